/**
 * Builds the package `fathom-client` into a folder: readable modules, declarations, readme and license. A module holds what
 * is used together, so that a bundler can leave the others out.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build, parseAst } from "vite"
import { declarations } from "./declarations.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const client = (name: string) => pathOf(`../../src/client/${name}.ts`)

/** `index.js`, which only names the others, and a module for each thing that a caller may need alone. */
const ENTRIES = {
  index: client("standalone"),
  amounts: pathOf("../../src/domain/decimal.ts"),
  client: client("createClient"),
  datafeed: client("createDatafeed"),
  errors: client("FathomError"),
  exchange: client("createExchange"),
  market: client("watchMarket"),
  quotes: client("createQuoteClient"),
  tracker: client("watchTracker")
}
/** The module that makes the OpenAPI document, which no client needs. */
const DOCUMENT = "/src/api/document/admission.ts"

const withoutDocument = {
  name: "fathom-without-document",
  enforce: "pre" as const,
  load: (id: string) => (id.endsWith(DOCUMENT) ? "export const withAdmission = () => (spec) => spec" : null)
}

/** A stretch of a text. */
interface Span {
  readonly start: number
  readonly end: number
}

interface Node extends Span {
  readonly type: string
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

const childrenOf = (node: Node): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

/** Functions of other modules that take a description, by the place of that argument. */
const SHARED: ReadonlyMap<string, number> = new Map([
  ["field", 1],
  ["optional", 1],
  ["atomic", 0]
])

/** Functions that take a description: the shared ones, and functions of this module with a parameter of that name. */
const describers = (module: Node): ReadonlyMap<string, number> => {
  const found = new Map(SHARED)
  const visit = (node: Node): void => {
    const { id, init } = node as Node & {
      readonly id?: { readonly name?: string } | null
      readonly init?: { readonly params?: ReadonlyArray<{ readonly name?: string }> } | null
    }
    const place = init?.params?.findIndex(({ name }) => name === "description") ?? -1
    if (node.type === "VariableDeclarator" && id?.name !== undefined && place >= 0) {
      found.set(id.name, place)
    }
    childrenOf(node).forEach(visit)
  }
  visit(module)
  return found
}

/** Finds descriptions: in annotations of schemas, each with the comma after it, and as arguments. */
const descriptionsIn = (node: Node, code: string, places: ReadonlyMap<string, number>): ReadonlyArray<Span> => {
  const {
    arguments: values,
    callee,
    key,
    type
  } = node as Node & {
    readonly key?: { readonly name?: string }
    readonly callee?: { readonly name?: string }
    readonly arguments?: ReadonlyArray<Node>
  }
  if (type === "Property" && key?.name === "description") {
    return [{ start: node.start, end: node.end + (/^\s*,/u.exec(code.slice(node.end))?.[0].length ?? 0) }]
  }
  const text = values?.[places.get(callee?.name ?? "") ?? -1]
  const own = text !== undefined && /^(?:Literal|TemplateLiteral|BinaryExpression)$/u.test(text.type) ? [text] : []
  // Patterns have properties too, but those name variables.
  const children = type === "ObjectPattern" ? [] : childrenOf(node)
  return [
    ...own,
    ...children.filter((child) => !own.includes(child)).flatMap((child) => descriptionsIn(child, code, places))
  ]
}

/** As many characters and lines as a description, so that source maps stay true. An argument becomes an empty text. */
const blankOf = (text: string): string => {
  const blank = text.replaceAll(/[^\n]/gu, " ")
  return text.startsWith("description") ? blank : `""${blank.slice(2)}`
}

/** Drops the descriptions, which no client shows. They would be a fifth of the module. */
const withoutDescriptions = {
  name: "fathom-without-descriptions",
  enforce: "post" as const,
  transform: (code: string, id: string) => {
    if (!/\/src\/(?:api|domain)\//u.test(id)) {
      return null
    }
    const module = parseAst(code) as Node
    const blanked = descriptionsIn(module, code, describers(module)).reduce(
      (left, { end, start }) => left.slice(0, start) + blankOf(left.slice(start, end)) + left.slice(end),
      code
    )
    return { code: blanked, map: null }
  }
}

/** Names the sources of a map as this repository does. Texts of other packages are left out: a debugger finds the package. */
const nameSources = (folder: string, file: string): void => {
  const path = join(folder, file)
  const map: { sources: Array<string>; sourcesContent?: Array<string | null> } = JSON.parse(readFileSync(path, "utf8"))
  const isOwn = map.sources.map((source) => !source.includes("node_modules/"))
  map.sources = map.sources.map((source) => source.replace(/^.*?(?<inside>src|node_modules)\//u, "$<inside>/"))
  map.sourcesContent = (map.sourcesContent ?? []).map((text, at) => (isOwn[at] === true ? text : null))
  writeFileSync(path, JSON.stringify(map))
}

/** Builds the package, with the version of this repository. */
export const buildClient = async (folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    plugins: [withoutDocument, withoutDescriptions],
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: "es2022",
      minify: false,
      reportCompressedSize: false,
      sourcemap: true,
      lib: { entry: ENTRIES, formats: ["es"], fileName: (_, name) => `${name}.js` },
      rolldownOptions: {
        treeshake: { moduleSideEffects: false },
        output: { chunkFileNames: "[name].js", comments: false }
      }
    }
  })
  readdirSync(folder)
    .filter((name) => name.endsWith(".map"))
    .forEach((name) => nameSources(folder, name))
  const { license, version } = JSON.parse(readFileSync(pathOf("../../package.json"), "utf8"))
  const manifest = {
    name: "fathom-client",
    version,
    description: "The client of the Fathom developer API, without dependencies: quotes, market data, live sockets.",
    license,
    type: "module",
    engines: { node: ">=22" },
    sideEffects: false,
    exports: { ".": { types: "./index.d.ts", default: "./index.js" }, "./package.json": "./package.json" },
    files: ["*.js", "*.js.map", "index.d.ts"]
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, "index.d.ts"), declarations())
  copyFileSync(pathOf("README.md"), join(folder, "README.md"))
  copyFileSync(pathOf("../../LICENSE"), join(folder, "LICENSE"))
}
