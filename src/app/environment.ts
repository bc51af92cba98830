/** Looks at the environment for settings that would be misread or ignored without a word. */
import { Config, ConfigProvider, Effect, FileSystem, Option, Path, Schema } from "effect"

/** A setting that is set, but blank. */
export class SettingBlank extends Schema.TaggedError<SettingBlank>()("SettingBlank", { setting: Schema.String }) {
  override get message(): string {
    return `${this.setting}: is set, but blank. Give it a value, or do not set it.`
  }
}

/** A setting that names a file or a folder which cannot be used. */
export class PathUnusable extends Schema.TaggedError<PathUnusable>()("PathUnusable", {
  setting: Schema.String,
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.setting}: ${this.path} ${this.reason}`
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Settings whose blank value has a meaning: none. */
const MAY_BE_BLANK: ReadonlySet<string> = new Set(["GEYSER_TOKEN", "KEY_PEPPER_BEFORE"])
/** Beginnings of names that only this service has. Names of the simulator are known only with a simulated market. */
const OWN_PREFIXES = ["GEYSER_", "SIMULATOR_", "SOLANA_"]
/** Kubernetes sets these names for each service that it runs. */
const OF_KUBERNETES = /_SERVICE_(?:HOST|PORT)(?:_\w+)?$|_PORT(?:_\d+_(?:TCP|UDP)(?:_\w+)?)?$/u

/** The settings that are set to nothing, or to white space alone. */
export const blankSettings = (environment: Environment, names: ReadonlySet<string>): ReadonlyArray<string> =>
  Object.entries(environment).flatMap(([name, value]) =>
    names.has(name) && !MAY_BE_BLANK.has(name) && value?.trim() === "" ? [name] : []
  )

/** True when one letter more, less or other, or two letters exchanged, make the one name of the other. */
const isOneEdit = (a: string, b: string): boolean => {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) {
    start += 1
  }
  let end = 0
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) {
    end += 1
  }
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const isExchanged = left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
  return (left.length <= 1 && right.length <= 1) || isExchanged
}

/** A sentence for each variable that looks like a setting and is none. */
export const misspelt = (environment: Environment, names: ReadonlySet<string>): ReadonlyArray<string> => {
  const known = Array.from(names)
  const own = ["FATHOM_", ...OWN_PREFIXES.filter((prefix) => known.some((each) => each.startsWith(prefix)))]
  return Object.keys(environment).flatMap((name) => {
    if (names.has(name)) {
      return []
    }
    const capitals = name.toUpperCase()
    const meant = known.find((each) => isOneEdit(capitals, each))
    if (meant !== undefined) {
      return [`${name} is not a setting and is ignored. Is ${meant} meant?`]
    }
    const isOwn = own.some((prefix) => capitals.startsWith(prefix)) && !OF_KUBERNETES.test(name)
    return isOwn ? [`${name} is not a setting and is ignored.`] : []
  })
}

/** The names that a program reads from its settings while none is set. */
export const namesReadBy = Effect.fnUntraced(function* <E, R>(program: Effect.Effect<unknown, E, R>) {
  const names = new Set<string>()
  const provider = ConfigProvider.make((path) => {
    names.add(path.join("_"))
    return Effect.succeed(undefined)
  })
  yield* Effect.provideService(program, ConfigProvider.ConfigProvider, provider)
  return names
})

const path = (setting: string) => Config.option(Config.String(setting))

/** Fails when a file or folder that a setting names is missing. The data folder is checked with the database. */
export const checkPaths = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const { dirname, resolve } = yield* Path.Path
  const must = Effect.fnUntraced(function* (setting: string, at: string, type: "Directory" | "File") {
    const unusable = (reason: string) => new PathUnusable({ setting, path: at, reason })
    const info = yield* Effect.mapError(files.stat(at), () => unusable("does not exist, or may not be looked at"))
    if (info.type !== type) {
      return yield* unusable(type === "File" ? "is not a file" : "is not a folder")
    }
    yield* Effect.mapError(files.access(at, { readable: true }), () => unusable("may not be read"))
  })
  const [accounts, backups, identities, ready] = yield* Effect.all([
    path("ACCOUNTS_DIR"),
    path("BACKUP_DIR"),
    path("IDENTITIES_FILE"),
    path("READY_FILE")
  ])
  yield* Option.isSome(accounts) ? must("ACCOUNTS_DIR", accounts.value, "Directory") : Effect.void
  yield* Option.isSome(backups) ? must("BACKUP_DIR", backups.value, "Directory") : Effect.void
  yield* Option.isSome(identities) ? must("IDENTITIES_FILE", identities.value, "File") : Effect.void
  yield* Option.isSome(ready) ? must("READY_FILE", dirname(resolve(ready.value)), "Directory") : Effect.void
})
