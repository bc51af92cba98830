const isPackage = import.meta.url.includes("/node_modules/")

/**
 * How a command of the service is typed here, such as `commandText("keys", "list")`: `npm run keys -- list` in the
 * repository, `npx fathom keys list` where Fathom is an installed package. `installed` is for tests.
 */
export const commandText = (command: string, rest: string, installed = isPackage): string =>
  installed ? `npx fathom ${command} ${rest}` : `npm run ${command} -- ${rest}`
