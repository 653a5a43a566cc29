"""Who is alike: people as points, the distance between them, their neighbours, and errors that allow for sharing.

`people` reads the features, `scaling` turns them into points, `learning` learns a distance from a label, `distances`
holds what a distance can be, `neighbours` finds who is nearest (`blocks` exactly, `index` approximately), `pairs` are
those that are compared, and `jackknife` says how sure a figure is when people stand in each other's neighbourhoods.
"""
