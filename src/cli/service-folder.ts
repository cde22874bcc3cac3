import { join, resolve } from 'node:path'
import type { CommandInput } from './command.ts'

/** The service's own folder: the one named, or the embedded service's in the data folder. */
export function serviceFolder({ settings, options }: Pick<CommandInput, 'settings' | 'options'>): string {
  return resolve((options['folder'] as string | undefined) ?? join(settings.dataDir, 'service'))
}

/** Whether a service listens to its operator unasked: everywhere but in production. */
export function listensToOperator(environment: CommandInput['environment']): boolean {
  return environment['NODE_ENV'] !== 'production'
}
