"""Are people who are alike treated alike? Consistency, Lipschitz violations, and the worst pairs."""
