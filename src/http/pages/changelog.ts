/** The changes of the contract: the part of `CHANGELOG.md` that begins with this heading. */
import { readFileSync } from "node:fs"

const HEADING = "# Changes of the API\n"

/** The file has the same path from `src` as from a package's `dist`. */
const file = new URL("../../../CHANGELOG.md", import.meta.url)

const changesIn = (text: string): string => {
  const at = text.indexOf(`\n${HEADING}`)
  if (at === -1) {
    throw new Error("CHANGELOG.md has no changes of the API")
  }
  return text.slice(at + 1)
}

let read: string | undefined

/** The changes in Markdown, newest first, under the day (UTC) on which they were made. The file is read once. */
export const changelog = (): string => (read ??= changesIn(readFileSync(file, "utf8")))
