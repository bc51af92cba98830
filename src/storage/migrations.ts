import * as schema from "./migrations/0060_schema.ts"

/** Every change of the schema, in order. Only add to it: a released migration is never edited. */
export const migrations = {
  "0060_schema": schema.up
}
