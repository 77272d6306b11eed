from typing import Literal

ReportWinsByType0 = Literal['logprob_order', 'loss', 'reward']

REPORT_WINS_BY_TYPE_0_VALUES: set[ReportWinsByType0] = { 'logprob_order', 'loss', 'reward',  }

def check_report_wins_by_type_0(value: str) -> ReportWinsByType0:
    if value in REPORT_WINS_BY_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REPORT_WINS_BY_TYPE_0_VALUES!r}")
