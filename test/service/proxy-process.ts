import { startBuilt } from '../started.ts'

/** `quorate proxy` as a process of its own. */
export interface ProxyProcess {
  readonly url: string
  readonly pid: number
  /** What it said on stderr up to now. */
  said(): string
  end(signal: NodeJS.Signals): Promise<void>
}

/** Starts a proxy on a folder, and waits until it answers. */
export async function startProxy(
  folder: string,
  baseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProxyProcess> {
  const { words, said, end } = startBuilt(['proxy', '--json', '--folder', folder, '--base-url', baseUrl], env)
  const told = (await words()) as { readonly authProxyUrl?: string; readonly pid: number }
  const { authProxyUrl: url, pid } = told
  if (url === undefined) throw new Error(`it did not start: ${JSON.stringify(told)}`)
  return { url, pid, said, end }
}
