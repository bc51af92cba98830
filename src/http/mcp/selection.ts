/** Which tools a client sees: those of `?tools=`, by default the dozen of `guides`. Every tool can be called unseen. */
import { guides } from "./guides.ts"
import { tools } from "./toolCalls.ts"

/** Names of the visible tools; null for all of them. */
export type Selection = ReadonlySet<string> | null

const usual: Selection = new Set(guides.keys())

/** The part of a tool's name that its group gives, such as `wallets`. */
const groupOf = (name: string): string => name.slice(0, name.indexOf("_"))

const namesOf = (word: string): ReadonlyArray<string> => {
  if (word === "usual") {
    return Array.from(guides.keys())
  }
  const names = Array.from(tools().keys())
  return tools().has(word) ? [word] : names.filter((name) => groupOf(name) === word)
}

/** What `tools` accepts, for the answer to a word that it does not know. */
const known = (): string =>
  `all, usual, a tool, or a group: ${Array.from(new Set(Array.from(tools().keys(), groupOf))).join(", ")}`

/**
 * Reads `tools` from the URL of a message: `all`, `usual`, groups and names of tools, with commas between. Returns a text
 * that names the first unknown word.
 */
export const selectionOf = (url: string): Selection | string => {
  const [, query = ""] = url.split("?", 2)
  const given = new URLSearchParams(query).getAll("tools")
  if (given.length === 0) {
    return usual
  }
  const words = given.join().split(",")
  if (words.includes("all")) {
    return null
  }
  const unknown = words.find((word) => namesOf(word).length === 0)
  return unknown === undefined
    ? new Set(words.flatMap(namesOf))
    : `tools: ${JSON.stringify(unknown.slice(0, 64).toWellFormed())} is unknown. It takes ${known()}.`
}
