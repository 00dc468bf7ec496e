"""rigl: drop by magnitude, grow by the gradient of the last batch, stop exploring before the end (arXiv 1911.11134).

As in the released code: the fraction to drop starts at .3, exploration ends at three quarters of the training, an entry
dropped and regrown at once keeps its value, and truly new entries start at 0 with empty moments. Ours differs where a
table is not a network: the stacked table is one layer (there is no layer-wise density to choose), the fraction falls
along half a cosine (the paper's; the code's flag defaults to constant), moments are Adam's with an own age per entry
(theirs is SGD with momentum), explorations are counted per training (theirs: every 100 steps), and the batch that
decides an exploration is also learnt from (theirs skips it).
"""

from __future__ import annotations

from sparserec.methods.exploring import ByLastGradient


class RigL(ByLastGradient):
    name = "rigl"
    idea = "the same, less of it, none in the last quarter"
    paper = "arXiv 1911.11134"
