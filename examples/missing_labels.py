"""Labels known only of those who got a loan: a pass must hold whatever the others would have done."""

import numpy as np
import pandas as pd

import evenhand as eh

rng = np.random.default_rng(0)
people = pd.DataFrame({"sex": rng.choice(["f", "m"], 5000), "approved": rng.integers(0, 2, 5000)})
people["repaid"] = np.where(people["approved"] == 1, rng.integers(0, 2, 5000), np.nan)
found = eh.audit(people, label="repaid", prediction="approved", sensitive="sex", metrics=["equal_opportunity"])
print(found.verdict, *found.findings[0].notes, *found.notes, sep="\n- ")
