/** The database: either the server in `DATABASE_URL`, or an embedded PostgreSQL in `DATA_DIR`. */
import { PgClient } from "@effect/sql-pg"
import { Config, Duration, Effect, Exit, Layer, Option, Scope, String } from "effect"
import type { Migrator, SqlClient, SqlError } from "effect/sql"
import { join, resolve } from "node:path"
import { durationSetting, rangeSetting } from "../domain/countSetting.ts"
import { startStep } from "../domain/startStep.ts"
import { ChangeChannel } from "./ChangeChannel.ts"
import { type FolderUnusable, holdsDatabase, NoDatabase, prepareFolder } from "./dataFolder.ts"
import { awaitServer, type DatabaseUnusable, untilReached } from "./databaseUrl.ts"
import { within } from "./deadline.ts"
import { directUrl } from "./directUrl.ts"
import * as EmbeddedServer from "./EmbeddedServer.ts"
import { migrate, type SchemaTooNew, type SchemaTooOld, type TradesUnconverted } from "./schema.ts"

/** `DATA_DIR` (`.fathom`): the folder where this process keeps its files. */
export const dataDir: Config.Config<string> = Config.String("DATA_DIR").pipe(Config.withDefault(".fathom"))

/** Settings of the connections, and of the embedded server. */
export const settings = Config.all({
  url: Config.option(Config.Redacted("DATABASE_URL")),
  directUrl,
  dataDir,
  /** Size of the connection pool. Each process has one more connection, for the change channel. */
  poolSize: rangeSetting("DATABASE_POOL_SIZE", 10, { minimum: 1, maximum: 1000 }),
  /** How long the start waits for a server that does not accept connections yet. */
  wait: durationSetting("DATABASE_WAIT").pipe(Config.withDefault(Duration.seconds(30))),
  connectTimeout: durationSetting("DATABASE_CONNECT_TIMEOUT").pipe(Config.withDefault(Duration.seconds(5))),
  statementTimeout: durationSetting("DATABASE_STATEMENT_TIMEOUT").pipe(Config.withDefault(Duration.seconds(30)))
})

/** The client settings that do not depend on the server. Columns are snake_case in SQL and camelCase here. */
export const clientConfig = (options: {
  readonly poolSize: number
  readonly connectTimeout: Duration.Duration
  readonly statementTimeout: Duration.Duration
}) => ({
  applicationName: "fathom",
  maxConnections: options.poolSize,
  connectTimeout: options.connectTimeout,
  startupParameters: { statement_timeout: `${Duration.toMillis(options.statementTimeout)}` },
  transformQueryNames: String.camelToSnake,
  transformResultNames: String.snakeToCamel
})

/** Closing a pool may take this long. Afterwards the server ends what is still open once it notices. */
const CLOSE_TIMEOUT = Duration.seconds(2)

/**
 * Makes a client whose pool closes within 2 s. A transaction cannot be interrupted while it begins or ends. On a dead
 * connection it would hold up a shutdown for as long as the operating system retries.
 */
export const makeClient = Effect.fnUntraced(function* (config: PgClient.PgPoolConfig) {
  const pool = yield* Effect.acquireRelease(Scope.make(), (held) =>
    Scope.close(held, Exit.void).pipe(
      within(CLOSE_TIMEOUT, (cause) => cause),
      Effect.catch(() => Effect.logWarning("The database does not answer: its connections are abandoned"))
    )
  )
  return yield* Scope.provide(PgClient.make(config), pool)
})

/**
 * Waits for the server in `DATABASE_URL`, or creates and checks the folder of the embedded one. Starts nothing. Fails
 * when the database cannot be used.
 */
export const check: Effect.Effect<void, Config.ConfigError | DatabaseUnusable | FolderUnusable> = Effect.gen(
  function* () {
    const { connectTimeout, dataDir, url, wait } = yield* settings
    yield* Option.isSome(url)
      ? awaitServer({ url: url.value, connectTimeout, limit: wait })
      : prepareFolder(resolve(dataDir, "postgres"))
  }
)

/**
 * Fails when there is no `DATABASE_URL` and the folder of the embedded server holds no database yet. Creates nothing.
 */
export const isThere: Effect.Effect<void, Config.ConfigError | NoDatabase> = Effect.gen(function* () {
  const { dataDir, url } = yield* settings
  const folder = resolve(dataDir, "postgres")
  if (Option.isNone(url) && !holdsDatabase(folder)) {
    return yield* new NoDatabase({ folder })
  }
})

/** Runs a step of the start, and tries it again within `DATABASE_WAIT` while the server is not reached. */
export const atStart = <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, E | Config.ConfigError, R> =>
  Effect.flatMap(settings, ({ wait }) => untilReached(wait)(step))

const connect = Effect.fnUntraced(function* (embedded: typeof EmbeddedServer.start) {
  const { dataDir, directUrl: _direct, url, ...rest } = yield* settings
  yield* check
  if (Option.isSome(url)) {
    return yield* makeClient({ ...clientConfig(rest), url: url.value })
  }
  const folder = join(dataDir, "postgres")
  const server = yield* startStep(`Start: the database in ${folder} is being prepared`)(embedded({ folder }))
  yield* Effect.logDebug("PostgreSQL runs embedded", { folder: server.socketFolder, pid: server.pid })
  const local = { host: server.socketFolder, username: "postgres", database: "postgres" }
  return yield* makeClient({ ...clientConfig(rest), ...local })
})

type Unusable =
  | Config.ConfigError
  | EmbeddedServer.FolderInUse
  | DatabaseUnusable
  | FolderUnusable
  | EmbeddedServer.NoBinaries
  | EmbeddedServer.ServerFailed
  | Migrator.MigrationError
  | SchemaTooNew
  | SchemaTooOld
  | TradesUnconverted
  | SqlError.SqlError

const migrated = (
  embedded: typeof EmbeddedServer.start
): Layer.Layer<ChangeChannel | PgClient.PgClient | SqlClient.SqlClient, Unusable> =>
  Layer.merge(
    ChangeChannel.layer,
    Layer.effectDiscard(startStep("Start: the schema of the database is being brought up to date")(atStart(migrate)))
  ).pipe(Layer.provideMerge(PgClient.layerFrom(connect(embedded))))

/** A connected, fully migrated database. Without `DATABASE_URL`, this must be the only process in `DATA_DIR`. */
export const layer = migrated(EmbeddedServer.start)

/** Like `layer`, for a short command. It works while a service runs in `DATA_DIR`. */
export const layerBeside = migrated(EmbeddedServer.join)

/** The database as it is, without migrations and change channel, to copy it. It works while a service runs. */
export const layerAsIs: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, Unusable> = PgClient.layerFrom(
  connect(EmbeddedServer.join)
)

/** Like `layerAsIs`, but as the only user of `DATA_DIR`. */
export const layerAlone: typeof layerAsIs = PgClient.layerFrom(connect(EmbeddedServer.start))
