"""What every room uses: results, records, files, frames, progress, wording. It imports none of the other rooms."""
