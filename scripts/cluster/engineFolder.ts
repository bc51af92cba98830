/** The folder of the engine of ClickHouse, which `npm run test:clickhouse` installs outside of the lock. */
import { existsSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

/** `FATHOM_CHDB`, else a cache folder of the user. */
export const ENGINE_FOLDER = process.env["FATHOM_CHDB"] ?? join(homedir(), ".cache", "fathom", "chdb")

const manifestOf = (folder: string): string => join(folder, "node_modules", "chdb", "package.json")

/** True where the folder has an engine of any version. */
export const isInstalled = (folder: string): boolean => existsSync(manifestOf(folder))

/** The version of the engine of a folder; null where it has none. */
export const installedVersion = (folder: string): string | null =>
  isInstalled(folder)
    ? (JSON.parse(readFileSync(manifestOf(folder), "utf8")) as { readonly version: string }).version
    : null
