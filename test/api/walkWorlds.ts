/** The services that the walk asks. Each gives the address to ask. */
import { ConfigProvider, Context, Effect, FileSystem, Layer, Redacted, Schedule, Schema } from "effect"
import { NodeServices } from "@effect/platform-node"
import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Address, SOL } from "../../src/domain/Address.ts"
import { isDollar } from "../../src/domain/stables.ts"
import { DEFAULT_PLAN, Plan } from "../../src/api/schemas/Plan.ts"
import * as App from "../../src/app/App.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import { SessionStore } from "../../src/access/accounts/SessionStore.ts"
import { AccountStoreUnavailable } from "../../src/api/schemas/Account.ts"
import { ApiScope } from "../../src/api/schemas/ApiKey.ts"
import { budgets, LimiterUnavailable } from "../../src/api/schemas/Budget.ts"
import { MAX_TRACKED_WALLETS } from "../../src/api/schemas/Tracker.ts"
import { DayFiles, NoDayFile } from "../../src/market/export/DayFiles.ts"
import { FillBook } from "../../src/past/FillBook.ts"
import { FillIdReused, FillRefused, ReplayFills } from "../../src/past/ReplayFills.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import { addressOf } from "../callouts/callouts.ts"
import { feed, keyOf, running, secretOf } from "../support/http.ts"
import { engineOver, makeMarket } from "../support/market.ts"
import { block, makeBooks, minted, reading, setSecond } from "../support/reads.ts"
import { scriptedNode } from "../support/scriptedNode.ts"
import { gainers, poolWith, priceAll } from "../support/views.ts"
import { address, mintOf } from "../market/tape/tape.ts"
import { knowing, portTo, status } from "../chain/rpc/statusNode.ts"
import * as MemoryAccounts from "../support/memoryAccounts.ts"
import {
  ENDING_SESSION,
  FULL_SESSION,
  type Offer,
  ORIGIN,
  ROTATING_SESSION,
  SESSION,
  SPENT_SESSION,
  SIGN_IN_TOKEN
} from "./walkRequests.ts"
import * as MemoryKeys from "../support/memoryKeys.ts"

const scopes = ApiScope.literals
const everything = keyOf("a", { scopes })
const keys = [
  everything,
  keyOf("d", { scopes, disabledAtMs: 0 }),
  keyOf("q", { scopes }),
  keyOf("w", { scopes, accountId: "walker" }),
  keyOf("f", { scopes, accountId: "full" }),
  keyOf("x", { scopes, plan: Plan.make({ ...DEFAULT_PLAN, name: "exporting", exports: 1 }) }),
  // The keys of an account that has all it may have, beside one that has expired and one that is disabled.
  ...["g", "h"].map((letter) => keyOf(letter, { accountId: "crowded" })),
  ...Array.from({ length: 8 }, (_, i) => keyOf(String(i), { accountId: "crowded" })),
  keyOf("e", { accountId: "crowded", expiresAtMs: 0 }),
  keyOf("i", { accountId: "crowded", disabledAtMs: 1 })
]

/** The pages of these services, and the session of one of them. */
const settings = { publicUrl: ORIGIN }
const accounts = MemoryAccounts.layerOf([
  { id: "walker", session: Redacted.make(SESSION), link: Redacted.make(SIGN_IN_TOKEN) },
  { id: "crowded", session: Redacted.make(FULL_SESSION), link: Redacted.make("v".repeat(43)) },
  { id: "spent", session: Redacted.make(SPENT_SESSION), link: Redacted.make("w".repeat(43)) },
  { id: "rotator", session: Redacted.make(ROTATING_SESSION), link: Redacted.make("x".repeat(43)) },
  { id: "leaver", session: Redacted.make(ENDING_SESSION), link: Redacted.make("u".repeat(43)) }
])

/** A service: its URL and the secrets of its keys. */
export class ReceivedCall extends Context.Service<
  ReceivedCall,
  { readonly url: string; readonly secretOf: (letter: string) => string; readonly offer: Offer | null }
>()("fathom/test/api/ReceivedCall") {}

const asked = Layer.effect(
  ReceivedCall,
  Effect.map(Listening, ({ url }) => ReceivedCall.of({ url, secretOf, offer: null }))
)

const spend = Layer.effectDiscard(
  Effect.gen(function* () {
    const limiter = yield* RateLimiter
    yield* limiter.admit({ key: { id: "session:spent", plan: DEFAULT_PLAN }, budget: "rest", cost: budgets.rest.limit })
    yield* limiter.admit({ key: { id: "key_q", plan: DEFAULT_PLAN }, budget: "rest", cost: budgets.rest.limit })
    yield* limiter.admit({ key: { id: "key_q", plan: DEFAULT_PLAN }, budget: "quote", cost: budgets.quote.limit })
  })
)

/** An account that tracks as many wallets as it may. */
const track = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* TrackerStore
    for (let i = 0; i < MAX_TRACKED_WALLETS; i++) {
      yield* store.add({ accountId: "full", wallet: addressOf(i), groupId: null })
      yield* i < 49 ? store.createGroup({ accountId: "full", name: "Full" }) : Effect.void
    }
  })
)

const FILE = join(tmpdir(), `fathom-walk-${process.pid}.ndjson`)
const rows = `${JSON.stringify({ slot: 300000000, index: 0, mint: mintOf(1), side: "buy", amount: "1000000" })}\n`

/** One day has a file, the next one is not whole, and nothing is known of any other. */
const days = Layer.merge(
  Layer.succeed(DayFiles, {
    find: ({ day }) =>
      day === "2026-03-02"
        ? Effect.succeed({ path: FILE, bytes: rows.length, tag: "t".repeat(43), gaps: 0 })
        : Effect.fail(
            new NoDayFile({
              reason: day === "2026-03-03" ? "unfinished" : "unknown",
              detail: `${day} is not whole yet.`
            })
          )
  }),
  Layer.effectDiscard(
    Effect.acquireRelease(
      Effect.sync(() => writeFileSync(FILE, rows)),
      () => Effect.sync(() => rmSync(FILE))
    )
  )
)

/** A replay in which the id of a swap tells what becomes of it. */
const replay = Layer.sync(ReplayFills, () => {
  const book = new FillBook("walk")
  const fills: ReplayFills = {
    post: (_, { id, latencySlots, minOut, quotedOut, slippageBps: __, ...swap }) => {
      const slot = 433_600_000
      switch (id) {
        case "reused":
          return Effect.fail(new FillIdReused())
        case "pool_not_recorded":
        case "venue_without_state":
          return Effect.fail(new FillRefused({ code: id, detail: "The recording does not have this pool." }))
        default:
          return Effect.sync(
            () =>
              book.get(id) ??
              book.add({
                ...swap,
                id,
                quotedOut: quotedOut ?? 1_985_000n,
                minOut: minOut ?? 1n,
                postedSlot: slot,
                slot: slot + latencySlots
              })
          )
      }
    },
    list: () => Effect.sync(() => ({ fills: book.all, slot: 433_600_000 })),
    filledBy: () => [],
    filledAfter: () => [],
    endsBy: () => false
  }
  return fills
})

/** Nothing behind the edge, a chain that is not followed, a key that has spent its budgets, and an account that is full. */
export const bare = Layer.mergeAll(asked, spend, track).pipe(
  Layer.provideMerge(
    running({ keys, accounts, settings, feed: feed(() => ({ slot: 0, heardAtMs: null, state: "loading" })) })
  ),
  Layer.provide([days, replay]),
  Layer.orDie
)

const down = Effect.fail(new LimiterUnavailable({ cause: "down" }))

export const limiterless = asked.pipe(
  Layer.provideMerge(
    running({
      keys,
      settings,
      accounts: MemoryAccounts.layerFailing(Effect.fail(new AccountStoreUnavailable({ cause: "down" }))),
      limiter: Layer.succeed(RateLimiter, {
        isImmediate: true,
        admit: () => down,
        refund: () => down,
        peek: () => down
      })
    })
  )
)

const bug = () => {
  throw new Error("a bug of this test's making")
}

// A key whose policy cannot be read, so that the check fails after the key was found.
const brokenKeys = Layer.effect(
  KeyStore,
  Effect.map(KeyStore, (store) =>
    KeyStore.of({
      ...store,
      authenticate: (secret) =>
        Effect.map(store.authenticate(secret), (key) => Object.defineProperty({ ...key }, "ipPolicy", { get: bug }))
    })
  )
).pipe(Layer.provide(MemoryKeys.layer({ keys })))

// A session whose address policy cannot be read, for the same reason.
const brokenAccounts = Layer.merge(
  MemoryAccounts.layerFailing(Effect.sync(bug)),
  Layer.effect(
    SessionStore,
    Effect.map(SessionStore, (store) =>
      SessionStore.of({
        ...store,
        authenticate: () =>
          Effect.succeed(
            Object.defineProperty(MemoryAccounts.credentialOf({ id: "walker", name: "w" }), "ipPolicy", { get: bug })
          )
      })
    )
  ).pipe(Layer.provide(MemoryAccounts.layerFailing(Effect.sync(bug))))
)

export const broken = asked.pipe(
  Layer.provideMerge(
    running({
      keyStore: brokenKeys,
      feed: feed(bug),
      settings,
      accounts: brokenAccounts
    })
  )
)

const oneTransaction = Layer.unwrap(
  Effect.map(scriptedNode, ({ rpcUrl, say }) => {
    say(knowing(status))
    return portTo({ rpcUrl })
  })
).pipe(Layer.orDie)

export const toys = asked.pipe(
  Layer.provideMerge(running({ keys, engine: engineOver(makeMarket()), statuses: oneTransaction }))
)

/** The second that the tape's clock stands at. */
export const NOW = 4000

const mints = [1, 2, 3].map(mintOf)
const books = makeBooks()
priceAll(books, mints)
for (const mint of mints) {
  books.tokens.set(mint, minted(2_000_000_000n, 6))
  books.pools.set(mint, [poolWith(mint, "raydium-cpmm", [1_000_000n, 1_000_000n])])
}

/** Each token trades in a pool of its own. */
const swaps = gainers(mints.length, 100, NOW - 10).map((trade) => ({
  ...trade,
  pool: address(6, mints.indexOf(trade.mint))
}))

const traded = Layer.effectDiscard(
  Effect.gen(function* () {
    const tape = yield* Tape
    yield* setSecond(NOW)
    yield* tape.apply(block(0))
    yield* tape.apply(block(NOW, { trades: swaps }))
  })
)

export const taped = Layer.merge(asked, traded).pipe(Layer.provideMerge(reading({ books, world: { keys } })))

const Ready = Schema.fromJsonString(
  Schema.Struct({
    baseUrl: Schema.String,
    keys: Schema.Struct({ all: Schema.String }),
    mints: Schema.Array(Address)
  })
)

const Wallets = Schema.Struct({
  data: Schema.Array(Schema.Struct({ walletId: Schema.String, family: Schema.String, verified: Schema.Boolean }))
})

const Catalog = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      network: Schema.Struct({ id: Schema.String }),
      assets: Schema.Array(Schema.Struct({ id: Schema.String }))
    })
  )
})

const Pools = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Struct({ pools: Schema.Array(Schema.Struct({ pool: Schema.String })) }) })
)

const Traders = Schema.Struct({ data: Schema.NonEmptyArray(Schema.Struct({ wallet: Schema.String })) })

const Follows = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

const LaunchList = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Tuple([Schema.Struct({ token: Schema.Struct({ address: Schema.String }) })]) })
)

/** Funding targets, followed wallets, a launch, and a traded mint that is neither SOL nor a dollar. */
const offerOf = Effect.fnUntraced(function* (url: string, key: string, mints: ReadonlyArray<Address>) {
  const ask = (path: string) =>
    Effect.promise(() =>
      fetch(url + path, { headers: { authorization: `Bearer ${key}` } }).then((answer) => answer.json())
    )
  const wallets = yield* Schema.decodeUnknownEffect(Wallets)(yield* ask("/api/v1/account/wallets"))
  const wallet = wallets.data.find(({ verified }) => verified)?.walletId ?? ""
  const path = `/api/v1/account/funding-catalog?walletId=${wallet}`
  const catalog = yield* Schema.decodeUnknownEffect(Catalog)(yield* ask(path))
  const [entry] = catalog.data
  const follows = yield* Schema.decodeUnknownEffect(Follows)(yield* ask("/api/v1/copy/follows"))
  const coins = mints.filter((each) => each !== SOL && !isDollar(each))
  let tried = 0
  // A mint's first trade may come after the service is ready, and some are seldom traded.
  const { mint, traders } = yield* Effect.suspend(() => {
    const candidate = coins.at(tried++ % coins.length) ?? ""
    return Effect.map(
      Effect.flatMap(ask(`/api/v1/tokens/solana/${candidate}/top-traders`), Schema.decodeUnknownEffect(Traders)),
      (found) => ({ mint: candidate, traders: found })
    )
  }).pipe(Effect.retry({ schedule: Schedule.spaced("1 second"), times: 120 }))
  // Pools are in memory once their token was asked for.
  const liquidity = yield* Effect.promise(() =>
    fetch(`${url}/api/v1/tokens/solana/${mint}/liquidity`, { headers: { authorization: `Bearer ${key}` } }).then(
      (answer) => answer.text()
    )
  ).pipe(
    Effect.flatMap(Schema.decodeEffect(Pools)),
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 300 })
  )
  // Some tokens are launched in the first block.
  const launches = yield* Effect.promise(() =>
    fetch(`${url}/api/v1/launches?limit=1`, { headers: { authorization: `Bearer ${key}` } }).then((answer) =>
      answer.text()
    )
  ).pipe(
    Effect.flatMap(Schema.decodeEffect(LaunchList)),
    // Few calls: the key has a budget.
    Effect.retry({ schedule: Schedule.spaced("1 second"), times: 120 })
  )
  return {
    mint,
    launched: launches.data[0].token.address,
    trader: traders.data[0].wallet,
    pool: liquidity.data.pools[0]?.pool ?? "",
    wallet,
    network: entry?.network.id ?? "",
    asset: entry?.assets[0]?.id ?? "",
    follow: follows.data[0]?.id ?? ""
  }
})

/** The service as `npm start` makes it, in this process. */
export const simulated = Layer.effect(
  ReceivedCall,
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "fathom-walk-" })
    const settings = ConfigProvider.fromUnknown({
      PORT: "0",
      DATA_DIR: folder,
      READY_FILE: `${folder}/ready.json`,
      SIMULATOR_SEED: "walk",
      // In hours; no test looks further back.
      SIMULATOR_HISTORY: "0.05",
      // The first block has the launches. A service on a busy machine may be long in reading it.
      SIMULATOR_BLOCKS_KEPT: "10000",
      DRAIN_QUIET: "0 millis"
    })
    yield* Layer.build(App.layer).pipe(Effect.provideService(ConfigProvider.ConfigProvider, settings))
    const text = yield* files
      .readFileString(`${folder}/ready.json`)
      .pipe(Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 1500 }))
    const { baseUrl, keys: given, mints } = yield* Schema.decodeEffect(Ready)(text)
    const offer = yield* offerOf(baseUrl, given.all, mints)
    return ReceivedCall.of({ url: baseUrl, secretOf: () => given.all, offer })
  })
).pipe(Layer.provide(NodeServices.layer), Layer.orDie)
