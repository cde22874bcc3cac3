import { KEY_VARIABLE, PAYLOAD_KEY_VARIABLE } from './settings.ts'

/**
 * The process's environment, read once. The keys are taken out of `process.env`, so that no child inherits one.
 */
export function takeEnvironment(): Readonly<Record<string, string | undefined>> {
  const environment = { ...process.env }
  delete process.env[KEY_VARIABLE]
  delete process.env[PAYLOAD_KEY_VARIABLE]
  return environment
}
