-- Raw deliveries are written once and hardly ever read: the quick compression does, where this server has it.
DO $$
BEGIN
    ALTER TABLE inbox ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;
