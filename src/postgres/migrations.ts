import * as apiKeys from "./migrations/0001_api_keys.ts"

/** Every change of the schema, in order. Append only: a released migration is never edited. */
export const migrations = {
  "0001_api_keys": apiKeys.up
}
