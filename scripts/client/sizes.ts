/** What a program pays for a part of `fathom-client`, after a bundler has left the rest out. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "vite"

/** A program that uses a part of the package, and the most bytes that it may have, minified or minified and compressed. */
interface Part {
  readonly name: string
  readonly uses: string
  readonly most: { readonly minified: number } | { readonly compressed: number }
}

const parts: ReadonlyArray<Part> = [
  { name: "fromAtomic", uses: "fromAtomic(1n, 2)", most: { minified: 2000 } },
  { name: "createQuoteClient", uses: 'createQuoteClient({ baseUrl: "", key: "" })', most: { compressed: 40_000 } },
  { name: "createExchange", uses: 'createExchange({ baseUrl: "", key: "" })', most: { compressed: 10_000 } },
  { name: "createClient", uses: 'createClient({ baseUrl: "", key: "" })', most: { compressed: 120_000 } }
]

/** Bytes of a part, and a fault when they are too many. */
export interface PartSize {
  readonly name: string
  readonly minified: number
  readonly compressed: number
  readonly fault: string | null
}

const sizeOf = async (folder: string, { most, name, uses }: Part): Promise<PartSize> => {
  const entry = join(folder, `uses-${name}.mjs`)
  writeFileSync(entry, `import { ${name} } from ${JSON.stringify(join(folder, "index.js"))}\nconsole.log(${uses})\n`)
  const built = await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      target: "es2022",
      minify: true,
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: { input: entry }
    }
  })
  const outputs = [built].flat().flatMap((result) => ("output" in result ? result.output : []))
  const code = outputs.flatMap((chunk) => (chunk.type === "chunk" ? chunk.code : [])).join("\n")
  const size = { minified: Buffer.byteLength(code), compressed: gzipSync(code).length }
  const [kind, bytes] =
    "minified" in most ? (["minified", most.minified] as const) : (["compressed", most.compressed] as const)
  const fault = size[kind] <= bytes ? null : `${name} alone has ${size[kind]} bytes ${kind}; ${bytes} at most.`
  return { name, ...size, fault }
}

/** The sizes of the parts of a package in this folder. */
export const partSizes = async (folder: string): Promise<ReadonlyArray<PartSize>> => {
  const sizes: Array<PartSize> = []
  for (const part of parts) {
    sizes.push(await sizeOf(folder, part))
  }
  return sizes
}
