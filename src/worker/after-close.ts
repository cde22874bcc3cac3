import type { ConnectionOptions } from '@temporalio/client'

export type GrpcInterceptor = NonNullable<ConnectionOptions['interceptors']>[number]
type GrpcCall = ReturnType<GrpcInterceptor>

/** gRPC: CANCELLED, which is not tried again. */
const CANCELLED = 1

/**
 * Ends calls that begin after a connection was closed. The SDK waits before it tries a call again, and on a closed connection the try
 * throws out of its timer, where nobody can catch it: that would end the process.
 */
export function endedAfterClose(isClosed: () => boolean): GrpcInterceptor {
  return (options, nextCall) => (isClosed() ? endedCall() : (nextCall(options) as GrpcCall))
}

function endedCall(): GrpcCall {
  const call: Pick<GrpcCall, 'start' | 'sendMessage' | 'sendMessageWithContext' | 'halfClose' | 'cancelWithStatus'> = {
    start(metadata, listener) {
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null)
        listener?.onReceiveStatus?.({ code: CANCELLED, details: 'the connection was closed', metadata })
      })
    },
    sendMessage() {},
    sendMessageWithContext() {},
    halfClose() {},
    cancelWithStatus() {},
  }
  return call as GrpcCall
}
