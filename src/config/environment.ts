import { KEY_VARIABLE } from './settings.ts'

/**
 * The process's environment, read once. The private key is taken out of `process.env`, so that no child inherits it.
 */
export function takeEnvironment(): Readonly<Record<string, string | undefined>> {
  const environment = { ...process.env }
  delete process.env[KEY_VARIABLE]
  return environment
}
