/** The module that the thread which reads blocks to import runs. */
import { serveImport } from "./serveImport.ts"

serveImport()
