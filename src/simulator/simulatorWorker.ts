/** What the thread of the simulated chain runs. */
import { serveSimulator } from "./serveSimulator.ts"

serveSimulator()
