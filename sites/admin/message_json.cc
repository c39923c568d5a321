#include "sites/admin/message_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <string>

#include "absl/time/time.h"

namespace gannet::sites {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string TimeText(const google::protobuf::Timestamp& time) {
  const absl::Time moment =
      absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", moment, absl::UTCTimeZone());
}

nlohmann::json OfMessage(const Message& message) {
  if (const auto* time =
          dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    return TimeText(*time);
  }
  if (const auto* duration =
          dynamic_cast<const google::protobuf::Duration*>(&message)) {
    return static_cast<double>(duration->seconds()) + duration->nanos() * 1e-9;
  }
  return MessageJson(message);
}

nlohmann::json Single(const Message& message, const FieldDescriptor& field) {
  const Reflection& of = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return of.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return of.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return of.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return of.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return of.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return of.GetFloat(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return of.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_STRING:
      return of.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return of.GetEnum(message, &field)->name();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return OfMessage(of.GetMessage(message, &field));
  }
  return nullptr;
}

nlohmann::json Repeated(const Message& message, const FieldDescriptor& field) {
  const Reflection& of = *message.GetReflection();
  nlohmann::json list = nlohmann::json::array();
  for (int i = 0; i < of.FieldSize(message, &field); ++i) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      list.push_back(of.GetRepeatedString(message, &field, i));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      list.push_back(of.GetRepeatedDouble(message, &field, i));
    } else {
      list.push_back(OfMessage(of.GetRepeatedMessage(message, &field, i)));
    }
  }
  return list;
}

// A map is on the wire a list of messages of key and value.
nlohmann::json Map(const Message& message, const FieldDescriptor& field) {
  const Reflection& of = *message.GetReflection();
  nlohmann::json map = nlohmann::json::object();
  for (int i = 0; i < of.FieldSize(message, &field); ++i) {
    const Message& entry = of.GetRepeatedMessage(message, &field, i);
    const auto& type = *entry.GetDescriptor();
    map[entry.GetReflection()->GetString(entry, type.map_key())] =
        Single(entry, *type.map_value());
  }
  return map;
}

}  // namespace

nlohmann::json MessageJson(const Message& message) {
  nlohmann::json object = nlohmann::json::object();
  const auto& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    nlohmann::json& value = object[field.name()];
    if (field.is_map()) {
      value = Map(message, field);
    } else if (field.is_repeated()) {
      value = Repeated(message, field);
    } else if (!field.has_presence() ||
               message.GetReflection()->HasField(message, &field)) {
      value = Single(message, field);
    }
  }
  return object;
}

}  // namespace gannet::sites
