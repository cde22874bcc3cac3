import { QuorateError, type QuorateErrorOptions } from '../diagnostics/index.ts'
import type { ServiceCode } from './codes.ts'

/** An error that keeps the service from starting or working, for its operator. */
export class ServiceError extends QuorateError {
  override readonly name = 'ServiceError'

  constructor(code: ServiceCode, message: string, options: QuorateErrorOptions = {}) {
    super(code, message, options)
  }
}
