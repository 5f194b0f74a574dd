"""An invisible mark in the brightness of pictures and video that carries the id of the job.

    watermark = Watermark(mark_of_job("..."))
    watermark.embed(frame)                  # each frame of the job, in place
    detect_file("result.mp4").mark_id       # from the file alone, whatever became of it

How it is made is in `carrier`, what is put into a frame in `embedding`, how it is found again in `detection`.
"""

from mien.trust.watermark.detection import Detection, detect
from mien.trust.watermark.embedding import SMALLEST_SIDE, Watermark
from mien.trust.watermark.ids import MarkId, mark_of_job
from mien.trust.watermark.reading import detect_file

__all__ = ["SMALLEST_SIDE", "Detection", "MarkId", "Watermark", "detect", "detect_file", "mark_of_job"]
