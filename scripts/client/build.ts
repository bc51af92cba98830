/** Builds the package `fathom-client` into a folder: one bundled module, its declarations, readme and license. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build, parseAst } from "vite"
import { declarations } from "./declarations.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const ENTRY = pathOf("../../src/client/standalone/index.ts")
/** Makes the OpenAPI document, which no client needs. */
const DOCUMENT = "/src/api/document/admission.ts"

const withoutDocument = {
  name: "fathom-without-document",
  enforce: "pre" as const,
  load: (id: string) => (id.endsWith(DOCUMENT) ? "export const withAdmission = () => (spec) => spec" : null)
}

/** A piece of a text. */
interface Span {
  readonly start: number
  readonly end: number
}

interface Node extends Span {
  readonly type: string
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

const childrenOf = (node: Node): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

/** Descriptions in a syntax tree: of annotations of schemas, each with the comma after it. */
const descriptionsIn = (node: Node, code: string): ReadonlyArray<Span> => {
  const { key, type } = node as Node & { readonly key?: { readonly name?: string } }
  if (type === "Property" && key?.name === "description") {
    return [{ start: node.start, end: node.end + (/^\s*,/u.exec(code.slice(node.end))?.[0].length ?? 0) }]
  }
  // Patterns have properties too, which name variables.
  return type === "ObjectPattern" ? [] : childrenOf(node).flatMap((child) => descriptionsIn(child, code))
}

/** Texts of the documents, which no client shows: a fifth of the module. */
const withoutDescriptions = {
  name: "fathom-without-descriptions",
  enforce: "post" as const,
  transform: (code: string, id: string) => {
    if (!/\/src\/(?:api|domain)\//u.test(id)) {
      return null
    }
    const spans = descriptionsIn(parseAst(code) as Node, code)
    return spans.reduceRight((left, { end, start }) => left.slice(0, start) + left.slice(end), code)
  }
}

/** The folder as a package, with the version of this one. */
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
      minify: true,
      reportCompressedSize: false,
      lib: { entry: ENTRY, formats: ["es"], fileName: () => "index.js" },
      rolldownOptions: { treeshake: { moduleSideEffects: false }, output: { minify: true } }
    }
  })
  const { license, version } = JSON.parse(readFileSync(pathOf("../../package.json"), "utf8"))
  const manifest = {
    name: "fathom-client",
    version,
    description: "The client of the Fathom developer API, without dependencies: quotes, market data, live sockets.",
    license,
    type: "module",
    engines: { node: ">=20.16" },
    sideEffects: false,
    exports: { ".": { types: "./index.d.ts", default: "./index.js" }, "./package.json": "./package.json" },
    files: ["index.js", "index.d.ts"]
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, "index.d.ts"), declarations())
  copyFileSync(pathOf("README.md"), join(folder, "README.md"))
  copyFileSync(pathOf("../../LICENSE"), join(folder, "LICENSE"))
}
