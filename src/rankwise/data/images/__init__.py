"""Image data sets for retrieval: the published layouts, read, checked and split by class."""

from rankwise.extras import require

require("rankwise.data.images", "PIL")

from rankwise.data.images.base import ImageSet, RetrievalSplits
from rankwise.data.images.image_file import BrokenImage, tell_broken
from rankwise.data.images.opening import KINDS, find_broken, open_images
from rankwise.data.images.statistics import TABLE_1, Statistics, beside_table_1, statistics

__all__ = [
    "open_images",
    "KINDS",
    "ImageSet",
    "RetrievalSplits",
    "BrokenImage",
    "tell_broken",
    "find_broken",
    "statistics",
    "Statistics",
    "TABLE_1",
    "beside_table_1",
]
