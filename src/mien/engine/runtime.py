"""OpenVINO's runtime without its model converter.

Importing `openvino` imports the converter as well, and with that a telemetry client. Networks need neither, and the
import takes a third less time without them. What else uses OpenVINO in the process can still import the converter.
"""

import sys
from types import ModuleType
from typing import cast

_CONVERTER = "openvino.tools.ovc"

_stand_in = _CONVERTER not in sys.modules
if _stand_in:
    sys.modules[_CONVERTER] = cast(ModuleType, None)  # The package takes this for a converter that is not installed.
import openvino as ov  # noqa: E402

if _stand_in:
    del sys.modules[_CONVERTER]

__all__ = ["ov"]
