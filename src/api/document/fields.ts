/**
 * Descriptions of properties by name, for those whose schema has none of its own: what the value is, its unit and its rounding.
 * A name with several meanings has one entry for each schema, `Schema.property`, beside or in place of the general one.
 */
import { venuesDescription } from "../venues.ts"
import { marketFields } from "./marketFields.ts"

const envelope = {
  requestId: "Id of this answer, as in X-Request-Id.",
  data: "What was asked for.",
  meta: "How the answer was made, and how well it is known.",
  pagination: "Place of the page in the list.",
  methodVersion: "Version of the method that made the answer; another version may count in another way.",
  executionAuthority: "Always none: nothing here signs, sends or moves anything.",
  status:
    "`known`: complete. `partial`: a part is missing, the coverage says which. `stale`: older than it may be. `unavailable`: no value.",
  complete: "True when nothing is missing.",
  reason: "Why something is missing; null when nothing is.",
  chain: "The chain that the values are of.",
  observedAtMs:
    "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none.",
  excluded: "Tokens that are in no page because a value is not known.",
  ranking: "The order of the rows.",
  source: "Where the values come from.",
  nextCursor: "The cursor of the next page; always null here, because there is one page.",
  "TopTradersAnswer.pagination.total": "Wallets of the ranking.",
  hasMore: "True when there is another page.",
  query: "The request as it was understood.",
  window: "The span of time that ends now.",
  order: "Values that rows are ordered by, the first deciding.",
  direction: "`desc`: the highest value first. `asc`: the lowest first.",
  "MovementAnswer.meta.ranking.rank": "The value that tokens are ranked by.",
  rank: "Place in the ranking; the first is 1.",
  stage: "Progress of a token from its launch to the pool after its graduation.",
  staleAfterMs: "Age from which an observation no longer counts, in milliseconds; null for never.",
  windowCoverage: "Coverage of each window of the answer."
}

const common = {
  id: "Id, unique and stable.",
  name: "Display name.",
  label: "Display name; null without one.",
  wallet: "The wallet, as base58 of 32 bytes.",
  wallets: "The wallets.",
  mint: "Mint of the token, as base58 of 32 bytes.",
  mints: "Mints, 1 to 100 different ones.",
  address: "Mint of the token: base58 of 32 bytes on Solana.",
  signature: "First signature of the transaction, as base58 of 64 bytes.",
  slot: "Slot of the block.",
  atMs: "Time of the event, in milliseconds since the Unix epoch.",
  side: "`buy`: the token was received. `sell`: it was given.",
  createdAtMs: "Time of creation, in milliseconds since the Unix epoch; null when unknown.",
  updatedAtMs: "Time of the last change, in milliseconds since the Unix epoch.",
  expiresAtMs: "Time from which it no longer counts, in milliseconds since the Unix epoch; null for never.",
  fromMs: "Beginning of the span, itself included, in milliseconds since the Unix epoch.",
  throughMs: "End of the span, itself included, in milliseconds since the Unix epoch.",
  requestedFromMs: "Beginning of the span asked for, in milliseconds since the Unix epoch; null without one.",
  requestedToMs: "End of the span asked for, in milliseconds since the Unix epoch; null without one.",
  coveredFromMs: "Beginning of what was seen, in milliseconds since the Unix epoch; null when nothing was.",
  coveredToMs: "End of what was seen, in milliseconds since the Unix epoch; null when nothing was.",
  coveredUntilMs: "End of what was read, in milliseconds since the Unix epoch; null when nothing was.",
  decimals: "Digits after the point of one whole unit; null when unknown.",
  symbol: "Ticker symbol; null when unknown.",
  imageUrl: "URL of the picture; null when unknown.",
  pool: "Address of the pool; null when no single one is meant.",
  dex: "Key of the venue, such as raydium-cpmm; null when unknown.",
  venues: "Keys of venues.",
  inputMint: "Mint of what is given.",
  outputMint: "Mint of what is received.",
  quoteMint: "Mint that the other one is counted in.",
  message: "Explanation for people; it may change at any time.",
  code: "Stable code of the case.",
  value: "The value; null when it is not known.",
  unit: "Unit of the value.",
  limit: "Most units of the budget in one window.",
  remaining: "Units of the budget that are left; never below 0.",
  resetAtMs: "Time at which the oldest counted unit leaves the window, in milliseconds since the Unix epoch.",
  budgets: "The two budgets of the key.",
  deleted: "Always true.",
  url: "Web page; null without one."
}

const account = {
  keyId: "Id of the key that was changed.",
  prefix: "First characters of the secret: `svc_live_`, or `svc_test_` in a sandbox.",
  lastFour: "Last four characters of the secret.",
  scopes: "Permissions of the key.",
  ipPolicy: "Addresses or CIDR blocks that the key may be used from; null for any.",
  lastUsedAtMs: "Time of the last use to the second, in milliseconds since the Unix epoch; null while never used.",
  disabledAtMs: "Time since which the key is disabled, in milliseconds since the Unix epoch; null while it is not.",
  revokedAtMs: "Time of its revocation, in milliseconds since the Unix epoch; null while it is not revoked.",
  isPrimary: "True for the primary wallet of its family.",
  ownedWallet: "The wallet of the account that this belongs to.",
  walletId: "Wallet id of the registry; never an address.",
  assets: "Assets of the network.",
  native: "True for the native asset of the network.",
  memoRequired: "True when a deposit without the memo is lost.",
  mismatchWarning: "What happens to a deposit of another asset or on another network.",
  asOf: "Time of the observation, in milliseconds since the Unix epoch.",
  "AccountBalances.data": "Balances; chains that could not be read are missing, not zero.",
  "ServiceDescription.version": "Version of the contract.",
  "ServiceDescription.status": "State of the contract: `beta` may still gain fields.",
  "ServiceDescription.name": "Name of the service.",
  "Readiness.status": "Always ok: a process that is not ready answers 503.",
  "Health.status": "Always ok: a process that does not run answers nothing.",
  docsUrl: "URL of the documentation.",
  openapiUrl: "URL of this document.",
  changelogUrl: "URL of the changes of the contract.",
  serverTimeMs: "Clock of the server, in milliseconds since the Unix epoch.",
  "SourceFreshness.source": "Name of the source.",
  "ManagedKeys.data": "Every key of the account, newest first.",
  "KeyAuditEntry.atMs": "Time of the change, in milliseconds since the Unix epoch."
}

const quotes = {
  amount: "Units of the mint as decimal digits.",
  uiAmount: "Whole tokens, above 0; the decimals say how many units one has.",
  outUiAmount: "`outAmount` in whole tokens, as the nearest number; present when the decimals are known.",
  minOutUiAmount: "`minOutAmount` in whole tokens, as the nearest number; present when the decimals are known.",
  route: "Swaps in the order in which they are made.",
  engine: "Engine that priced the trade.",
  engineTimeMs: "Time that pricing took, in milliseconds.",
  swapUsdValue: "Value of the trade in USD, as the nearest number; null without a price.",
  quotedAtMs: "Time of the quote, in milliseconds since the Unix epoch.",
  "Hop.priceImpactPct":
    "Percent points by which the fill of this swap is worse than the marginal rate; null when not measurable.",
  maxHops: "The most swaps in a row, 1 to 4.",
  directOnly: "True allows routes of one pool only.",
  "RouteRequest.chain": "Always solana.",
  "RouteRequest.venues": venuesDescription("Only these venues"),
  "RouteRequest.pools": "Only these pools: 1 to 20 addresses.",
  ladder: "Shares of the position, rising, above 0 and at most 1.",
  rungs: "The shares, each priced.",
  units: "Unit of each number of the answer, by its name.",
  fraction: "Share of the position, above 0 and at most 1.",
  realizedPrice:
    "Whole tokens of the quote mint received for one of the position, as the nearest number; null without decimals or proceeds.",
  fullExitPrice: "`realizedPrice` of the whole position; null when it cannot be sold.",
  streamId: "Id of the stream; null when there is none.",
  "CloseFrame.reason": "Why the stream ended.",
  "CloseFrame.errors": "Ticks that could not be priced, counted.",
  emitted: "Quotes that were sent.",
  throttledTicks: "Ticks that were left out because the budget was spent.",
  lastQuoteAtMs: "Time of the last quote, in milliseconds since the Unix epoch; null when none was sent.",
  retryAfterMs: "Milliseconds until the cost fits again.",
  retryable: "True when the same stream may be opened again.",
  changed: "What moved since the quote before.",
  budgetRemaining: "Units of the budget that are left.",
  budget: "The budget as the stream begins.",
  intervalMs: "Milliseconds from tick to tick.",
  durationSeconds: "Seconds until the stream closes.",
  changesOnly: "True when only quotes that moved are sent.",
  endsAtMs: "Time at which the stream closes, in milliseconds since the Unix epoch.",
  costPerTick: "Units of the budget that each tick costs.",
  event: "Name of the frame.",
  "frame.id": "Id of the frame.",
  "frame.data": "The frame as JSON text.",
  state: "State of the transaction.",
  blockTimeMs: "Time of the block, in milliseconds since the Unix epoch; null when unknown.",
  computeUnits: "Compute units that the transaction used; null when unknown.",
  "TransactionReport.id": "First signature of the transaction.",
  "TransactionFailure.message": "Explanation by the program or the node; null without one."
}

/** Names that mean something else elsewhere. */
const others = {
  "Rung.error": "Why the rung has no quote that sells it whole; null when it has.",
  "ErrorFrame.error": "Why this tick has no quote.",
  "CopyFill.status": "How far the copy has got. All but pending is final.",
  "CopyFollow.status": "`active`: copies are made. `paused`: not for the time being. `stopped`: never again.",
  "RiskTag.unit": "Unit of the value: always boolean."
}

/** Amounts, whose shared schemas have no unit. */
const amounts = {
  "SpotQuote.inAmount": "Input of the trade in atomic units of inputMint.",
  "Hop.amountIn": "Input of the swap in atomic units of its inputMint.",
  "RouteRequest.outputDecimals": "Decimals of outputMint, 0 to 18, for amounts in whole tokens.",
  "OpenFrame.outputDecimals": "Decimals of outputMint as they were sent; null when they were not.",
  quoteDecimals: "Decimals of quoteMint, 0 to 18, for amounts in whole tokens.",
  "TransactionReport.feeLamports": "Fee of the transaction in lamports; null while it is not known.",
  "PnlBlock.realized": "Profit of what was sold, in US dollars; null while a cost is unknown.",
  "PnlBlock.unrealized":
    "Profit of what is held at the current prices, in US dollars; null while a cost or price is unknown.",
  "PnlBlock.total": "Realized and unrealized profit, in US dollars; null where either is.",
  "TopTrader.boughtTokens": "Bought in the window, in whole tokens; null while the decimals are unknown.",
  "TopTrader.soldTokens": "Sold in the window, in whole tokens; null while the decimals are unknown.",
  "CopyFill.leader.valueUsd": "Value of the leader's trade, in US dollars; null without a price.",
  "CopyFill.execution.inAmount": "Paid for the copy, in atomic units of inMint.",
  "CopyFill.execution.outAmount": "Received by the copy, in atomic units of outMint.",
  "CopyFill.execution.feeUsd": "Fees of the copy, in US dollars; null when they are unknown.",
  "AccountBalance.balance": "Units held, in the smallest unit of the asset; null when it could not be read.",
  "AccountBalance.valueUsd": "The balance at the price, in US dollars; null without either.",
  "AccountDepositAddress.memo": "Memo that a deposit must carry, 1 to 256 visible characters; null when it needs none.",
  "PerpsQuote.reasonBps": "Costs that decided the pick, in basis points; null without a pick."
}

const perps = {
  "PerpsQuote.query.symbol": "Symbol of the market, such as BTC.",
  "PerpsQuote.query.side": "Side of the trade.",
  "PerpsQuote.query.venues": "Venues asked for; null for all.",
  "PerpsEntry.symbol": "Symbol of the market at this venue.",
  holdHours: "Hours for which the position is held.",
  healthy: "True when the venue answered with a book that is fresh enough to compare.",
  bid: "Best price bid, in USD; null when the book has none.",
  ask: "Best price asked, in USD; null when the book has none.",
  mid: "Middle of bid and ask, in USD; null without either.",
  takerBps: "Taker fee of the venue, in basis points of the size.",
  ourBps: "Fee of this service, in basis points of the size.",
  impactBps: "Price impact of the size against the middle, in basis points.",
  fundingBps: "Funding over the hold, in basis points of the size; negative when it is received.",
  totalBps: "Sum of the costs, in basis points of the size."
}

/** Description of every property without one of its own, by name or by schema and name. */
export const fields: Readonly<Record<string, string>> = {
  ...envelope,
  ...common,
  ...account,
  ...quotes,
  ...amounts,
  ...others,
  ...perps,
  ...marketFields
}
