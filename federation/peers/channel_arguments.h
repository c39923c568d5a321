// What every channel between sites has in common, with TLS or without. A
// function; thread-safe.
#pragma once

#include <grpcpp/support/channel_arguments.h>

#include "federation/peers/peer_server.h"

namespace gannet::federation {

inline grpc::ChannelArguments PeerChannelArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMostPeerMessageBytes);
  arguments.SetMaxSendMessageSize(-1);  // The other side says what is too much.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A site that was away is soon found again.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  // A machine that vanished says nothing; a stream would wait for ever.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  return arguments;
}

}  // namespace gannet::federation
