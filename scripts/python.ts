/**
 * Writes the Python package `fathom-client` into the given folder: what is written by hand in `src/client/python`, and types
 * and methods of every operation from the OpenAPI document.
 */
import { resolve } from "node:path"
import { buildPython } from "./client/python.ts"

const [folder = "dist/python"] = process.argv.slice(2)
buildPython(resolve(folder))
process.stdout.write(`${resolve(folder)}\n`)
