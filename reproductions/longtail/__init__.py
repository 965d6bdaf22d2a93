"""Table 6 of StableAP in small: losses on rare classes of images, tuned alike."""

QUESTION = "Are StableAP and SOPRC first in AP on long-tailed images?"
TIME = "3 h"
DATA = "--data DIR with images/"
