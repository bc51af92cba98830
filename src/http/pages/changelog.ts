/** Changes of the contract in Markdown, newest first, under the day (UTC) on which they were made. */
export const changelog = `# Changes of the API

Changes are additive: fields and endpoints may be added to v1, and existing ones keep their meaning.

## v1 (beta)

### 2026-11-22

- A quote or exit check without a pool in memory for the pair, where the node refused to search for pools of the token, is a 503
  \`data_unavailable\` (\`upstream_unavailable\` of \`/route\`), not a 404 \`no_route\`. In the check of a wallet such a position has the
  state \`not_searched\`, counted in \`counts.notSearched\`, where its proceeds counted as zero.
- Alerts on \`liquidity_usd\` of SOL and on \`top10_pct\` of SOL and dollars are a 400 at \`condition.metric\`: they could never fire.
- Liquidity of a token is \`partial\` where the node refused to search for pools (\`not_captured\`) or accounts of a pool are not read
  yet (\`backfill_running\`), and unknown without any other pool, where it was a complete zero. That of SOL is always \`partial\`.
- Alerts on \`liquidity_drop_pct\`, over 300, 600 or 3,600 seconds, and on \`authority_changes\`. \`windowSeconds\` of 600 is for the
  first alone.
- \`provenAtSlot\` of each swap of a quote: the slot at which prices of its venue were proven against the deployed program, or null.
- Source \`programs\` at \`/freshness\` and \`/readyz\`, with \`programs\`: each quoted AMM program, its deployment and the state of its prices.
- Source \`snapshot\` at \`/freshness\`, with \`restoredSlot\` and \`restoredAgeMs\` where memory began with a snapshot.
- Alerts on trades of a tracked wallet: the metrics \`wallet_trade_usd\` and \`wallet_trade_sol\` with \`wallet\`, \`side\` and the operator
  \`at_least\`. Every trade fires; \`trade\` of the event is the trade. \`mint\` of such an alert may be null, and its status \`inactive\`
  with \`statusReason\` while the wallet is not tracked. Thresholds of percentages that can never be reached are a 400.
- Frames \`alert_fired\` on the tracker's socket: alerts of the account as they fire, for keys with the scope \`alerts.read\`. A \`gap\` of
  reason \`alerts_missed\` stands for firings that could not be received.
- \`POST /api/v1/spot/exit-check\` takes \`{"wallet": ...}\` in place of a position: a ladder for each of up to 50 open positions, and
  what they bring within \`maxImpactPct\`. A unit of \`quote\` for each rung priced.
- Trades and candles as server-sent events at \`/api/v1/market/trades/stream\` and \`/api/v1/market/candles/stream\`: the frames, units and
  resumption of the market socket.
- Channel \`quote\` of the market socket: one trade priced on a grid, each tick for a unit of the \`quote\` budget.
- The sockets and event streams as an AsyncAPI 3 document at \`/asyncapi.json\`, and in Markdown at \`/docs/live.md\`.
- On the market socket a \`gap\` of reason \`expired\` stands for closed candles that a slow reader was not sent and that are no longer
  held.
- Reads of the market after a restart of the service are answered at once, over what was seen (\`partial\`, \`backfill_running\`), not 503.
- Every read as a tool of the Model Context Protocol at \`/mcp\`, by streamable HTTP, with the key of the caller. Answers are at most
  4 kB of text unless \`maxBytes\` asks for more, and begin with how well they are known. The documents are its resources.
- Usage by day, key and operation at \`/api/v1/account/usage\`: requests, units, errors, bytes and stream minutes, also as CSV.
- Entries of \`/api/v1/account/audit\` with the action \`use\` and the actor \`key\`: the first use of a key from an address.
- Trades of a token one by one, newest first, at \`/api/v1/tokens/{chain}/{address}/trades\`, by side, wallet, pool, value and time.
- A pool and its trades at \`/api/v1/pools/{address}\` and \`/trades\`. Code \`pool_not_found\` (404).
- Statistics of a token at \`/api/v1/tokens/{chain}/{address}/stats\`: four windows with both sides, highest and lowest price.
- The price of a token at a second at \`/api/v1/tokens/{chain}/{address}/price?at=\`, of up to 100 pairs at \`POST /api/v1/prices/history\`.
- Facts of up to 100 tokens at \`GET /api/v1/tokens?addresses=\` and \`POST /api/v1/tokens\`.
- Launches at \`/api/v1/launches\`, and one with its first buyers at \`/api/v1/launches/{mint}\`. Code \`launch_not_found\` (404).
- Holders of a token at \`/api/v1/tokens/{chain}/{address}/holders\`: owners counted, and the parts that the largest ten and fifty hold;
  \`holders\` of facts and discovery is the same number.
- Tokens by symbol, name or address at \`/api/v1/search\`, with filters; copies of a much larger token are marked.
- Stage \`graduating\` of \`/api/v1/market/discovery\` has curves of Meteora DBC.
- Keys of the account at \`/api/v1/account/keys\`, for sessions of the app: create, change, rotate, disable, enable, revoke; the
  audit of their changes at \`/api/v1/account/audit\`, plans at \`/api/v1/account/plans\`. Codes \`key_not_found\` (404) and
  \`owner_required\` (403).
- Limits follow the plan of the key, which \`/api/v1/account/key\` shows as \`plan\` beside \`expiresAtMs\`; an expired key is unknown.
- \`X-API-Key\` carries a key like \`Authorization: Bearer\`; two different keys are a 400.
- Sessions of the app at \`/app/session\`: a session is a credential beside the key, with every scope and one budget for an account.
  Codes \`session_required\` and \`origin_not_allowed\` (403). What a session has opened, streams and sockets, ends with it
  (\`key_revoked\`, 4403). \`oidc\` is true where a provider signs in, at \`/sign-in/oidc\`.
- \`fees\` of a tracked wallet's trade, in answers and frames: priority fee, tips and the front end's fee.
- \`quotable\` of a tracked wallet's trade: false for a closed AMM.
- Perps venues \`velocity\` (Drift before; the parameter still takes \`drift\`), \`aster\` and \`jupiter\`; \`venueSymbol\`, \`coinsPerUnit\` and
  \`unreadableMarkets\` of an entry.
- \`condition.source\` of alerts: \`swap\` or \`median\` over pools; alerts on USDC are evaluated; \`fireNow\` arms an alert that is
  beyond its threshold already, and changes beyond theirs arm first like levels.
- A window with a gap has the values of what was seen: status \`partial\`, and \`share\` in its coverage, from 0 to 1. Changes of
  windows that were seen to different shares are null. Sources \`blocks\` and \`backfill\` at \`/freshness\`, with \`slot\`,
  \`gapsOpen\`, \`share\` and \`reason\`.
- Values in dollars follow the swaps of SOL on the chain, up to and including their block. Between a start and its first block
  windows have their values, with the reason \`backfill_running\`.
- Windows of 1 h, 6 h and 24 h begin with a minute, with 5 and with 10 minutes; rankings of wallets over 24 h with 2 hours, as
  \`windowFromMs\` shows. Changes of market totals compare windows of equal width.
- Bars of charts have \`buys\`, \`sells\`, \`buyVolume\`, \`sellVolume\`, \`traders\` and \`revision\`; with \`denom=sol\` they show the SOL
  that was paid, not dollars divided by a price of SOL. \`pool\` selects the trades of one pool. \`outliers\` of a bar counts
  prints that were hardly traded; \`outliers=exclude\` leaves them out of high and low.
- The meta of top traders stays the same over the pages of a view; \`historyComplete\` is false where nothing is known.
- Prices through any pool: \`method\` and \`evidence\` (path and depth) at \`/api/v1/prices\`. Reserves and \`feeBps\` of every venue,
  \`depth2pct\`, \`createdAtMs\` and \`poolsLeftOut\` at \`liquidity\`; \`priceMethod\` in rows of \`movement\` and \`discovery\`.
- Positions of one wallet at \`/api/v1/wallets/{wallet}/positions\` and its profit by UTC day at \`/pnl/history\`. \`pnl\` and
  \`pnl_summary\` frames and wallet summaries carry \`known\`: profit over the units of known cost, with the share that it
  covers; \`pnl\` frames carry \`quantities\`, and \`holding\` is the balance on the chain, null where it is unknown.
- \`backfill\` of wallet summaries, positions and \`pnl/history\`: begins to read the wallet's transactions from the chain. The
  answer does not wait; \`backfill\` in it shows how far the reading is, and \`reason\` of the coverage why more is unknown.
- \`costUsd\` is the cost of all buys, \`proceedsUsd\` the proceeds of all sells and \`roiPct\` the total in percent of
  \`costUsd\` everywhere; \`/copy/pnl\` has the cost of what was sold as \`soldCostUsd\`.
- Both sides of a wallet's swap of two tokens have one value, that of the side with a price.
- Groups of tracked wallets at \`/api/v1/tracker/groups\`; \`PATCH /api/v1/tracker/wallets/{wallet}\` changes label, emoji, notes and
  groups; \`POST /api/v1/tracker/wallets/batch\` tracks up to 100 wallets.
- A key may have 32 tokens being loaded at a time; beyond that a request for another cold token is answered 429. \`Retry-After\`
  of \`state_cold\` is the time that loading probably takes.
- Sources \`trades\`, \`alerts\`, \`tracker\`, \`callouts\` and \`database\` at \`/freshness\`; \`lagging\` at \`/readyz\`.
- The exit check takes any \`quoteMint\` where the deployment has a router, fills in decimals that it knows, and answers 400 at
  the field for what it cannot measure. \`maxCleanFraction\` is the largest rung within 2 %: 1 exactly when the verdict is clean.
- \`close\` frames of quote streams count \`skippedTicks\`; 405 and 414 are declared at every operation; every answer carries
  \`X-Content-Type-Options: nosniff\`; two \`Authorization\` headers are a 400.
- A chart of an EVM chain that the deployment has no source for is a 400 \`unsupported_chain\`; \`prevTo\` leads past 90 days.
- \`dex\` of a wallet's trade over several pools is the aggregator that routed it, where it was null; trades through any program
  are listed, and pools without public prices are part of charts and volumes.
- \`node\` of each source at \`/freshness\`, and at \`/readyz\`: the host of the Solana node in use.
- Pools at \`liquidity\` have their volume of 24 hours, \`volume24hUsd\`, with its coverage; it was null. \`createdAtMs\` of a curve
  stays after its migration. Charts of one pool end with the newest block.
- Source \`blocks\` at \`/freshness\`: the newest block read, its node, and in \`estimatedTimes\` the number of blocks whose
  time is an estimate.

### 2026-11-21

- Copying at \`/api/v1/copy/follows\`, \`fills\` and \`pnl\`, reads only.
- Price alerts at \`/api/v1/alerts\` and their firings at \`/api/v1/alerts/events\`.
- Tracked wallets at \`/api/v1/tracker/wallets\`, their trades at \`snapshot\` and \`trades\`, and live events over a
  WebSocket with a ticket of \`realtime/session\`.
- Perps venues compared at \`/api/v1/perps/quote\`; wallets, balances and deposit addresses of the owner at \`/api/v1/account\`.
- Wallet summaries at \`/api/v1/wallets/summary\`.
- The market at \`/api/v1/market/chart/{token}\`, \`lighthouse\`, \`overview\`, \`movement\` and \`discovery\`.
- Tokens at \`/api/v1/tokens/{chain}/{address}\`, with \`risk\`, \`liquidity\` and \`top-traders\`, and \`/api/v1/prices\`.
- Callouts at \`/api/v1/callouts/feed\` and \`/api/v1/callouts/token/{mint}\`, each with a page for people at \`/c/{id}\`.
- Routes at \`/api/v1/route\` and the public status of transactions at \`/api/v1/status/{id}\`, both read-only. Spot orders,
  perps orders and collateral rebalance are rejected.
- Spot quotes, the quote stream and the exit check.
- The key of the request and its budgets at \`/api/v1/account/key\`, the freshness of every source at \`/freshness\`.
`
