/** Connections that keep a session, because they listen or hold locks. They bypass a transaction pooler. */
import type { PgClient } from "@effect/sql-pg"
import { Config, Effect, Option } from "effect"

/** `DATABASE_DIRECT_URL`: the server itself, for installations where `DATABASE_URL` is a pooler such as PgBouncer. */
export const directUrl = Config.option(Config.Redacted("DATABASE_DIRECT_URL"))

/** Client settings of a connection that keeps its session. */
export const sessionConfig = ({ config }: Pick<PgClient.PgClient, "config">) =>
  Effect.map(Effect.orDie(directUrl), (url) => (Option.isNone(url) ? config : { ...config, url: url.value }))
