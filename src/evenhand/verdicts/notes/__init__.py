"""What a finding says beside its verdict: strata, intersections, impact ratios, calibration, sample sizes, p-values."""
