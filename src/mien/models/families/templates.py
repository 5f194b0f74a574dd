"""Where the five points of a face lie in an aligned crop, as fractions of its side.

Each network was trained on crops of one of these templates and works on no other. Sources: ARCFACE_112_V2 is the
template of InsightFace's recognisers (112 px), ARCFACE_128 the same moved by 8 px and scaled onto 128 px,
ARCFACE_112_V1 its forerunner; DFL_WHOLE_FACE is DeepFaceLab's; FFHQ_512 stands for the alignment of the FFHQ data set,
MTCNN_512 and STYLEGANEX_384 for those of the networks named so. The figures are those of FaceFusion 3.8.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Template = NDArray[np.float64]
"""(5, 2) left eye, right eye, nose tip, left and right mouth corner; x, y as fractions of the crop's side."""


def _template(*values: float) -> Template:
    points = np.array(values, np.float64).reshape(5, 2)
    points.setflags(write=False)
    return points


ARCFACE_112_V1 = _template(
    *(0.35473214, 0.45658929, 0.64526786, 0.45658929, 0.50000000, 0.61154464),
    *(0.37913393, 0.77687500, 0.62086607, 0.77687500),
)
ARCFACE_112_V2 = _template(
    *(0.34191607, 0.46157411, 0.65653393, 0.45983393, 0.50022500, 0.64050536),
    *(0.37097589, 0.82469196, 0.63151696, 0.82325089),
)
ARCFACE_128 = _template(
    *(0.36167656, 0.40387734, 0.63696719, 0.40235469, 0.50019687, 0.56044219),
    *(0.38710391, 0.72160547, 0.61507734, 0.72034453),
)
DFL_WHOLE_FACE = _template(
    *(0.35342266, 0.39285716, 0.62797622, 0.39285716, 0.48660713, 0.54017860),
    *(0.38839287, 0.68750011, 0.59821427, 0.68750011),
)
FFHQ_512 = _template(
    *(0.37691676, 0.46864664, 0.62285697, 0.46912813, 0.50123859, 0.61331904),
    *(0.39308822, 0.72541100, 0.61150205, 0.72490465),
)
MTCNN_512 = _template(
    *(0.36562865, 0.46733799, 0.63305391, 0.46585885, 0.50019127, 0.61942959),
    *(0.39032951, 0.77598822, 0.61178945, 0.77476328),
)
STYLEGANEX_384 = _template(
    *(0.42353745, 0.52289879, 0.57725008, 0.52319972, 0.50123859, 0.61331904),
    *(0.43364461, 0.68337652, 0.57015325, 0.68306005),
)
