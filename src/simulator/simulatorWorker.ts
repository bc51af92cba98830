/** Entry of the worker thread. */
import { serveSimulator } from "./serveSimulator.ts"

serveSimulator()
