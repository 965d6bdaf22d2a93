"""The solver of the pAp@k paper for the items of many users."""
