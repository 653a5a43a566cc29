#!/bin/sh
# A Parquet file by command line, with names for its codes: sh parquet_command_line.sh acs_income.parquet
# (ACS 2018, census.gov, with the predictions of a model; fairlearn and folktables fetch it.)
set -e
cat > codes.toml <<'CODES'
[SEX]
1 = "men"
2 = "women"
CODES
evenhand audit "$1" --label PINCP --prediction pred_lightgbm --sensitive SEX --labels codes.toml \
    --where "AGEP >= 25" --title "Income above 50,000" -o audit.json -o audit.html || echo "exit code $?"
