/**
 * Packs `fathom-client`, the client without dependencies, into the given folder or the current one. Checks the tarball
 * with publint and are-the-types-wrong, its types with the compiler, and what its parts cost a program that bundles them.
 * Prints the sizes in bytes as JSON. Nothing is fetched. `--check` leaves no tarball behind.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { buildClient } from "./client/build.ts"
import { partSizes } from "./client/sizes.ts"
import { typeFaults } from "./client/typeFaults.ts"
import { packageFaults } from "./release/packageFaults.ts"

/** Most bytes of the tarball, and of its files; most of them are source maps and comments, which no program loads. */
const LARGEST = { size: 520_000, unpackedSize: 2_400_000 }

const folder = mkdtempSync(join(tmpdir(), "fathom-client-"))
const destination = process.argv[2] === "--check" ? folder : resolve(process.argv[2] ?? ".")
try {
  await buildClient(folder)
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", destination], {
    cwd: folder,
    encoding: "utf8"
  })
  const [{ filename, files, size, unpackedSize }] = JSON.parse(packed)
  const faults = await packageFaults(new Uint8Array(readFileSync(join(destination, filename))))
  faults.push(...typeFaults(join(folder, "index.d.ts")))
  if (size > LARGEST.size) {
    faults.push(`The tarball has ${size} bytes; ${LARGEST.size} at most.`)
  }
  if (unpackedSize > LARGEST.unpackedSize) {
    faults.push(`The files have ${unpackedSize} bytes; ${LARGEST.unpackedSize} at most.`)
  }
  const parts = await partSizes(folder)
  faults.push(...parts.flatMap(({ fault }) => fault ?? []))
  const sizes = Object.fromEntries(parts.map(({ compressed, minified, name }) => [name, { minified, compressed }]))
  process.stdout.write(`${JSON.stringify({ filename, size, unpackedSize, files: files.length, ...sizes })}\n`)
  process.stderr.write(faults.map((fault) => `${fault}\n`).join(""))
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
