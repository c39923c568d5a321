#include "sites/admin/message_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <optional>
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

// A field's value; of a repeated field the one `at` that index.
nlohmann::json Value(const Message& message, const FieldDescriptor& field,
                     std::optional<int> at = std::nullopt) {
  const Reflection& of = *message.GetReflection();
  const auto get = [&](auto single, auto repeated) {
    return at.has_value() ? (of.*repeated)(message, &field, *at)
                          : (of.*single)(message, &field);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat);
    case FieldDescriptor::CPPTYPE_BOOL:
      return get(&Reflection::GetBool, &Reflection::GetRepeatedBool);
    case FieldDescriptor::CPPTYPE_STRING:
      return get(&Reflection::GetString, &Reflection::GetRepeatedString);
    case FieldDescriptor::CPPTYPE_ENUM:
      return get(&Reflection::GetEnum, &Reflection::GetRepeatedEnum)->name();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return OfMessage(at.has_value()
                           ? of.GetRepeatedMessage(message, &field, *at)
                           : of.GetMessage(message, &field));
  }
  return nullptr;
}

nlohmann::json Repeated(const Message& message, const FieldDescriptor& field) {
  nlohmann::json list = nlohmann::json::array();
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < size; ++i) list.push_back(Value(message, field, i));
  return list;
}

// A map is on the wire a list of messages of key and value. JSON's keys are
// text: those of other types are written as their values are.
nlohmann::json Map(const Message& message, const FieldDescriptor& field) {
  const Reflection& of = *message.GetReflection();
  nlohmann::json map = nlohmann::json::object();
  for (int i = 0; i < of.FieldSize(message, &field); ++i) {
    const Message& entry = of.GetRepeatedMessage(message, &field, i);
    const auto& type = *entry.GetDescriptor();
    const nlohmann::json key = Value(entry, *type.map_key());
    map[key.is_string() ? key.get<std::string>() : key.dump()] =
        Value(entry, *type.map_value());
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
      value = Value(message, field);
    }
  }
  return object;
}

}  // namespace gannet::sites
