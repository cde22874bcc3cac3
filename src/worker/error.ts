import { QuorateError, type QuorateErrorOptions } from '../diagnostics/index.ts'
import { workerCodes } from './codes.ts'

/** Temporal, or the worker's way to it, does not work. */
export class WorkerError extends QuorateError {
  override readonly name = 'WorkerError'

  constructor(code: keyof typeof workerCodes, message: string, options: QuorateErrorOptions = {}) {
    super(code, message, { next: workerCodes[code].solve, ...options })
  }
}
