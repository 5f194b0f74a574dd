-- ARGV: job. Gives 1 if it had not ended.
if not is_live(ARGV[1]) then return 0 end
note_outcome(ARGV[1], cjson.null, '')
end_job(ARGV[1], 'cancelled')
return 1
