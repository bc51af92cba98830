/** Databases as the migrations up to 0059 left them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"

/** Makes the tables of migration 0059 in an empty database, with the statements of the version that had that migration. */
export const makeOldSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const text = readFileSync(new URL("schema0059.sql", import.meta.url), "utf8")
  for (const statement of text.split(";\n\n")) {
    yield* sql.unsafe(statement)
  }
})

/** Names of these migrations, oldest first. */
export const STEPS = `0001_api_keys 0002_callouts 0003_trades 0004_wallets 0005_tracker 0006_alerts 0007_follows
  0008_copy_turns 0020_block_gaps 0021_trade_rows 0022_bar_details 0024_alert_source 0026_fee_lamports
  0027_wallet_history 0030_accounts 0031_key_management 0032_sign_ins 0036_transfers 0038_trade_costs 0040_key_usage
  0041_key_addresses 0042_supply_changes 0044_owner_links 0046_launch_creators 0050_token_swaps
  0051_wallet_trade_alerts 0052_market_snapshots 0053_pool_index 0054_chain_terms 0055_program_proofs
  0056_writer_terms 0057_key_peppers 0058_token_authorities 0059_index_entries`.split(/\s+/u)

/** Replaces the record of migrations. The tables stay as they are. */
export const recordAs = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`truncate schema_migrations`
  for (const name of names) {
    yield* sql`insert into schema_migrations (migration_id, name) values (${Number(name.slice(0, 4))}, ${name.slice(5)})`
  }
})
