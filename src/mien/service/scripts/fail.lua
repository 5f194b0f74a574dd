-- ARGV: job, task, attempt, busy_s, kind, message, how (see `fail_task`).
-- Gives the state of the task, or of the job if that ended; nothing if the try does not count.
local job, name, attempt, busy_s, kind, message, how = unpack(ARGV)
if not holds(job, name, attempt) then return false end
busy(job, busy_s)
return fail_task(job, name, kind, message, how)
