import * as apiKeys from "./migrations/0001_api_keys.ts"
import * as callouts from "./migrations/0002_callouts.ts"
import * as trades from "./migrations/0003_trades.ts"
import * as wallets from "./migrations/0004_wallets.ts"
import * as tracker from "./migrations/0005_tracker.ts"
import * as alerts from "./migrations/0006_alerts.ts"
import * as follows from "./migrations/0007_follows.ts"
import * as copyTurns from "./migrations/0008_copy_turns.ts"
import * as blockGaps from "./migrations/0020_block_gaps.ts"
import * as tradeRows from "./migrations/0021_trade_rows.ts"
import * as barDetails from "./migrations/0022_bar_details.ts"
import * as alertSource from "./migrations/0024_alert_source.ts"
import * as feeLamports from "./migrations/0026_fee_lamports.ts"
import * as walletHistory from "./migrations/0027_wallet_history.ts"
import * as accounts from "./migrations/0030_accounts.ts"
import * as keyManagement from "./migrations/0031_key_management.ts"
import * as signIns from "./migrations/0032_sign_ins.ts"
import * as transfers from "./migrations/0036_transfers.ts"
import * as tradeCosts from "./migrations/0038_trade_costs.ts"
import * as keyUsage from "./migrations/0040_key_usage.ts"
import * as keyAddresses from "./migrations/0041_key_addresses.ts"
import * as supplyChanges from "./migrations/0042_supply_changes.ts"
import * as ownerLinks from "./migrations/0044_owner_links.ts"
import * as launchCreators from "./migrations/0046_launch_creators.ts"
import * as tokenSwaps from "./migrations/0050_token_swaps.ts"
import * as walletTradeAlerts from "./migrations/0051_wallet_trade_alerts.ts"
import * as marketSnapshots from "./migrations/0052_market_snapshots.ts"
import * as poolIndex from "./migrations/0053_pool_index.ts"
import * as chainTerms from "./migrations/0054_chain_terms.ts"
import * as programProofs from "./migrations/0055_program_proofs.ts"
import * as writerTerms from "./migrations/0056_writer_terms.ts"
import * as keyPeppers from "./migrations/0057_key_peppers.ts"
import * as tokenAuthorities from "./migrations/0058_token_authorities.ts"
import * as indexEntries from "./migrations/0059_index_entries.ts"

/** Every change of the schema, in order. Append only: a released migration is never edited. */
export const migrations = {
  "0001_api_keys": apiKeys.up,
  "0002_callouts": callouts.up,
  "0003_trades": trades.up,
  "0004_wallets": wallets.up,
  "0005_tracker": tracker.up,
  "0006_alerts": alerts.up,
  "0007_follows": follows.up,
  "0008_copy_turns": copyTurns.up,
  "0020_block_gaps": blockGaps.up,
  "0021_trade_rows": tradeRows.up,
  "0022_bar_details": barDetails.up,
  "0024_alert_source": alertSource.up,
  "0026_fee_lamports": feeLamports.up,
  "0027_wallet_history": walletHistory.up,
  "0030_accounts": accounts.up,
  "0031_key_management": keyManagement.up,
  "0032_sign_ins": signIns.up,
  "0036_transfers": transfers.up,
  "0038_trade_costs": tradeCosts.up,
  "0040_key_usage": keyUsage.up,
  "0041_key_addresses": keyAddresses.up,
  "0042_supply_changes": supplyChanges.up,
  "0044_owner_links": ownerLinks.up,
  "0046_launch_creators": launchCreators.up,
  "0050_token_swaps": tokenSwaps.up,
  "0051_wallet_trade_alerts": walletTradeAlerts.up,
  "0052_market_snapshots": marketSnapshots.up,
  "0053_pool_index": poolIndex.up,
  "0054_chain_terms": chainTerms.up,
  "0055_program_proofs": programProofs.up,
  "0056_writer_terms": writerTerms.up,
  "0057_key_peppers": keyPeppers.up,
  "0058_token_authorities": tokenAuthorities.up,
  "0059_index_entries": indexEntries.up
}
