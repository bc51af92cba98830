/** Words that the glossary replaces stay out of code, comments, messages, test names and pages. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"

const sources = globSync("{src,test,scripts}/**/*.{ts,tsx,mjs}", {
  // Packages of a folder with a manifest of its own are installed beside its files.
  exclude: (name) => name === "node_modules"
}).filter((file) => !file.endsWith("words.test.ts"))
const pages = [...globSync("docs/**/*.md"), "README.md", "CHANGELOG.md", ...globSync(".github/*.md")]

/** Not to be found in any text. */
const BANNED =
  /\b(?:nobody|somebody|anybody|whoever|strangers?|goodbye|farewell|LAST_CALL|lets? go|letting go|turnstile|letGo|turnAway|turnBack|atDesk)\b/iu
/** Code spoken of as a person: not to be found in comments. */
const SPOKEN = /\b(?:told|tells?|telling|says|said|saying|ours|of our own)\b/iu
/** First words that describe a question instead of a value. */
const QUESTION = /^(?:What|How|Whether|Who|Whose|Where)\b/u

const comments = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/\/\*\*?([\s\S]*?)\*\/|^\s*\/\/(.*)$|[^:"'`]\/\/ (.*)$/gmu), ([, block, line, tail]) =>
    (block ?? line ?? tail ?? "").replaceAll(/\n\s*\*/gu, "\n").trim()
  )

const testNames = (text: string): ReadonlyArray<string> =>
  Array.from(
    text.matchAll(/\b(?:it|describe|layer)(?:\.\w+)*\((?:[^"`(]*\()?\s*["`]([^"`]+)["`]/gu),
    ([, name]) => name ?? ""
  )

const found = (texts: ReadonlyArray<string>, words: RegExp): ReadonlyArray<string> =>
  texts.filter((text) => words.test(text))

describe("the words of the tree", () => {
  it.each([...sources, ...pages])("are the field's terms in %s", (file) => {
    const text = readFileSync(file, "utf8")
    assert.deepStrictEqual(found(text.split("\n"), BANNED), [])
  })

  it.each(sources)("describe values, not speakers, in %s", (file) => {
    const text = readFileSync(file, "utf8")
    assert.deepStrictEqual(found([...comments(text), ...(file.startsWith("test/") ? testNames(text) : [])], SPOKEN), [])
    assert.deepStrictEqual(found(comments(text), QUESTION), [])
  })
})
