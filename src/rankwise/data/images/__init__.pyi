from rankwise.data.images._class_split import ClassListing
from rankwise.data.images._listing import Recorded
from rankwise.data.images.image_file import BrokenImage
from rankwise.data.images.image_set import ClassSplits, ImageSet, LabeledImages, RetrievalSplits
from rankwise.data.images.readers import (
    CLASS_KINDS,
    KINDS,
    find_broken,
    open_classes,
    open_images,
)

__all__ = [
    "CLASS_KINDS",
    "KINDS",
    "BrokenImage",
    "ClassListing",
    "ClassSplits",
    "ImageSet",
    "LabeledImages",
    "Recorded",
    "RetrievalSplits",
    "find_broken",
    "open_classes",
    "open_images",
]
