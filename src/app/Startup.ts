import { Clock, Config, Console, Context, Effect, FileSystem, Layer, Option, Schedule } from "effect"
import { channel } from "node:diagnostics_channel"
import { type Mint, SOL } from "../domain/Address.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../quotes/QuoteEngine.ts"
import { DemoData, MarketSource } from "./MarketSource.ts"
import { Listening } from "../http/server/NodeServer.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { SourceMonitor } from "../operations/SourceMonitor.ts"
import * as Logs from "../operations/Logs.ts"
import { StartDisplay, startStep } from "../domain/startStep.ts"
import { issueStartKeys, type StartKeys } from "./startKeys.ts"
import { issueStartLink, makeWelcome } from "./startLink.ts"
import { commandText } from "../domain/commandText.ts"

const ONE_SOL = 1_000_000_000n
const SLIPPAGE_BPS = 50
/** The ready file waits this long for demo data. */
const SEED_LIMIT = "30 seconds"
/** Without a first quote for this long, a line says what the service waits for. */
const NOTICE_AFTER = "2500 millis"

/**
 * True where keys and sign-in links may be printed: on a terminal. Elsewhere standard output ends up in files and log
 * stores that more people read.
 */
export const PrintsSecrets = Context.Reference<boolean>("fathom/app/Startup/PrintsSecrets", {
  defaultValue: () => process.stdout.isTTY === true
})

const readyFile = Config.option(Config.String("READY_FILE"))

/** The mints that can be quoted now. */
const quotable = Effect.fnUntraced(function* (mints: ReadonlyArray<Mint>) {
  const engine = yield* QuoteEngine
  return yield* Effect.filter(mints, (mint) =>
    Effect.isSuccess(engine.quote({ inputMint: SOL, outputMint: mint, amount: ONE_SOL, slippageBps: SLIPPAGE_BPS }))
  )
})

/** True while the pools or the token of any mint are being loaded. */
const isLoading = Effect.fnUntraced(function* (mints: ReadonlyArray<Mint>) {
  const book = yield* PoolBook
  const tokens = yield* TokenBook
  return mints.some((mint) => !book.isLoaded(mint) || tokens.read(mint) === null)
})

/** Queues the pools and tokens of the market's mints, which load while the rest of the service is built. */
const preload = Effect.gen(function* () {
  const { mints } = yield* MarketSource
  const book = yield* PoolBook
  const tokens = yield* TokenBook
  yield* Effect.forEach(mints, (mint) => Effect.andThen(book.warm(mint), tokens.warm(mint)), { discard: true })
})

/** Runs `preload`. */
export const preloaded = Layer.effectDiscard(preload)

/** The mints that can be quoted, once all are loaded or after 15 seconds. */
const firstQuotes = Effect.fnUntraced(function* (mints: ReadonlyArray<Mint>) {
  // A mint whose loading failed is queued again.
  const loading = Effect.andThen(Effect.repeat(preload, Schedule.spaced("1 second")), Effect.never)
  // Quotes come last: hundreds of refusals for cold mints, twenty times a second, would delay the loading.
  const look = Effect.flatMap(isLoading(mints), (isWaiting) => (isWaiting ? Effect.succeed([]) : quotable(mints)))
  const seen = yield* look.pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (priced) => priced.length > 0 }),
    Effect.raceFirst(loading),
    Effect.timeoutOption("15 seconds")
  )
  return Option.isSome(seen) ? seen.value : yield* quotable(mints)
})

interface Start {
  readonly url: string
  readonly description: string
  readonly keys: StartKeys | null
  /** Path of a sign-in link; null beside a real node. */
  readonly link: string | null
}

/** How to get a sign-in link and a key that are not printed. `path` is the ready file; null without one. */
const secretsBy = (path: string | null) => ({
  ...(path !== null && { secrets: `the keys and the sign-in link are in ${path} (READY_FILE)` }),
  app: commandText("accounts", "link welcome"),
  key: commandText("keys", "create --name first")
})

/** The greeting without secrets. */
const quietGreeting = ({ description, url }: Pick<Start, "description" | "url">, path: string | null): string => {
  const { app, key, secrets } = secretsBy(path)
  return [
    `Fathom answers at ${url} from ${description}.`,
    `  Reference   ${url}/docs`,
    ...(secrets === undefined ? [] : [`  Secrets     ${secrets}`]),
    `  App         ${app}`,
    `  Test key    ${key}`
  ].join("\n")
}

const greeting = ({ description, keys, link, url }: Start, mint: Mint | undefined): string => {
  const head = [
    `Fathom answers at ${url} from ${description}.`,
    `  Reference   ${url}/docs`,
    ...(link === null ? [] : [`  App         ${url}${link}`])
  ]
  if (keys === null) {
    return [...head, `  First key   ${commandText("keys", "create --name first")}`].join("\n")
  }
  const query = `inputMint=${SOL}&outputMint=${mint ?? "MINT"}&amount=${ONE_SOL}`
  return [
    ...head,
    `  Test key    ${keys.all}`,
    `  Try it      curl -H "Authorization: Bearer ${keys.all}" "${url}/api/v1/spot/quote?${query}"`
  ].join("\n")
}

/** How often the start looks whether the market is whole. */
const WHOLE_EVERY = "1 second"

const sayMarket = (isJson: boolean, text: string) =>
  isJson ? Effect.logInfo(text) : Console.log(`  Market      ${text}`)

/** Tells the process that started the service whether the market is being read (`scripts/start.mjs`). */
const marketChannel = channel("fathom.market")
const tellReading = (isReading: boolean) => Effect.sync(() => marketChannel.publish({ isReading }))

/**
 * Says how much of the market's history is still to be read, and once more when all of it is. Waits for the first block
 * before.
 */
const announceHistory = (isJson: boolean) =>
  Effect.gen(function* () {
    const monitor = yield* SourceMonitor
    const feed = Effect.map(Clock.currentTimeMillis, (nowMs) => monitor.stateOf("block_feed", nowMs))
    yield* Effect.repeat(feed, {
      schedule: Schedule.spaced(WHOLE_EVERY),
      until: (state) => state === null || state.status !== "unavailable"
    })
    const begun = yield* feed
    if (begun?.reason !== "backfill_running" || begun.share === undefined) {
      return yield* tellReading(false)
    }
    yield* tellReading(true)
    const left = begun.leftMs === undefined ? "" : `, about ${Math.ceil(begun.leftMs / 1000)} s left`
    yield* sayMarket(
      isJson,
      `${Math.floor(100 * begun.share)} % of its history is read${left}; until then figures may be missing.`
    )
    // After the newest blocks come the earlier ones.
    const isWhole = Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const state = monitor.stateOf("block_feed", nowMs)
      return (state === null || state.status === "known") && monitor.stateOf("backfill", nowMs)?.status !== "partial"
    })
    yield* Effect.repeat(isWhole, { schedule: Schedule.spaced(WHOLE_EVERY), until: (whole) => whole })
    yield* tellReading(false)
    yield* sayMarket(isJson, "All of its history is read.")
  })

const removeReadyFile = (path: string) =>
  FileSystem.FileSystem.use((files) => Effect.ignore(files.remove(path, { force: true })))

/**
 * Writes the file atomically, because scripts read it as soon as it exists. Only its owner can read it, because it
 * holds keys. It is removed when the scope closes.
 */
const writeReadyFile = Effect.fnUntraced(function* (path: string, content: object) {
  const files = yield* FileSystem.FileSystem
  yield* files.writeFileString(`${path}.part`, `${JSON.stringify(content)}\n`, { mode: 0o600 })
  yield* Effect.acquireRelease(files.rename(`${path}.part`, path), () => removeReadyFile(path))
})

/**
 * Prints the address of the service once the first quote can be answered, and writes it to `READY_FILE` where that is
 * set. With a simulated or recorded market it also issues two keys, one with every scope and one with `md.read` only,
 * and prints them on a terminal; with a real node none. With `LOG_FORMAT=json` it logs the address and prints nothing.
 * The file waits for demo data, for 30 seconds at most.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { url } = yield* Listening
    const source = yield* MarketSource
    const { written } = yield* DemoData
    const path = yield* readyFile
    const { format } = yield* Logs.settings
    const isJson = format === "json"
    const isShown = (yield* PrintsSecrets) && !isJson
    yield* source.sandbox ? makeWelcome : Effect.void
    // A secret that nobody is told is not made.
    const isTold = source.sandbox && (isShown || Option.isSome(path))
    const keys = isTold ? yield* issueStartKeys : null
    const link = isTold ? yield* issueStartLink : null

    // A start that was killed leaves its file, whose address no longer answers.
    yield* Option.isSome(path) ? removeReadyFile(path.value) : Effect.void

    const market = source.description
    const waiting = Effect.delay(
      isJson
        ? Effect.logInfo("Fathom listens and waits for its market", { url, market })
        : Console.log(`Fathom listens at ${url} and waits for ${market}.`),
      NOTICE_AFTER
    )
    const display = yield* StartDisplay
    const quotes = firstQuotes(source.mints)
    const announce = Effect.gen(function* () {
      const mints = yield* display === null
        ? Effect.raceFirst(quotes, Effect.andThen(waiting, Effect.never))
        : startStep(`Start: the first quotes of ${source.description} are awaited`)(quotes)
      display?.finish()
      yield* isJson
        ? Effect.logInfo("Fathom answers", { url, market, ...(source.sandbox && secretsBy(Option.getOrNull(path))) })
        : Console.log(
            isShown || !source.sandbox
              ? greeting({ url, description: market, keys, link }, mints[0])
              : quietGreeting({ url, description: market }, Option.getOrNull(path))
          )
      yield* Effect.forkScoped(announceHistory(isJson))
      if (Option.isSome(path)) {
        yield* Effect.timeoutOption(written, SEED_LIMIT)
        yield* writeReadyFile(path.value, { baseUrl: url, pid: process.pid, keys, link, mints })
      }
    })
    yield* announce.pipe(Effect.forkScoped)
  })
)
