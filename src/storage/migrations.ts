import * as schema from "./migrations/0060_schema.ts"

/** Every change of the schema, in order. Append only: a released migration is never edited. */
export const migrations = {
  "0060_schema": schema.up
}
