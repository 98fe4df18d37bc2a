package pipegauge;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jgroups.annotations.LocalAddress;
import org.jgroups.annotations.Property;
import org.jgroups.conf.ProtocolConfiguration;
import org.jgroups.conf.XmlConfigurator;
import org.jgroups.protocols.BasicTCP;
import org.jgroups.protocols.Discovery;
import org.jgroups.protocols.FD_SOCK2;
import org.jgroups.protocols.FORK;
import org.jgroups.protocols.FailureDetection;
import org.jgroups.protocols.FlowControl;
import org.jgroups.protocols.SEQUENCER;
import org.jgroups.protocols.SEQUENCER2;
import org.jgroups.protocols.TP;
import org.jgroups.protocols.TUNNEL;
import org.jgroups.protocols.UDP;
import org.jgroups.protocols.VERIFY_SUSPECT;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.relay.RELAY;

/**
 * A stack of protocols: one that JGroups ships, or a file of the user's, kept to this host and with what options ask of it. The lowest protocol is the
 * first.
 */
final class Stack {
    /** Nothing goes elsewhere. */
    private static final String HERE = "127.0.0.1";
    /**
     * Ports of members, of what watches over members, and of casts: so many of each, from this one on. Systems give none of these to whoever asks for any, so that
     * no connection that has ended holds them.
     */
    private static final int FIRST_PORT = 2_048, PORTS = 10_000;
    /** How many ports a member tries, from one that its group and rank have drawn. */
    private static final int TRIED = 50;
    /** How often a member asks for rank 0, whose answer may be lost, milliseconds. */
    private static final int ASKS = 500;

    /** What takes messages to other hosts, or has protocols that only a file of its own names. */
    private static final List<Class<?>> REFUSED = List.of(TUNNEL.class, RELAY.class, FORK.class);

    private final Properties wanted;
    private final List<ProtocolConfiguration> protocols;

    Stack(Properties wanted) throws Exception {
        this.wanted = wanted;
        protocols = isOurs() ? Text.shipped(wanted.getProperty("stack")) : Text.own(wanted.getProperty("config"));
        if (protocols.isEmpty() || !is(protocols.get(0), TP.class))
            throw new IOException("the stack's first protocol is no transport");
        for (ProtocolConfiguration protocol : protocols)
            change(protocol);
        gather();
        if ("total".equals(wanted.getProperty("order")) || isOurs() && !"fifo".equals(wanted.getProperty("order")))
            order();
    }

    /** What a channel is made of. */
    XmlConfigurator configurator() {
        return new XmlConfigurator(protocols) {
        };
    }

    /** Whether all casts have one order. */
    boolean isTotal() throws Exception {
        for (ProtocolConfiguration protocol : protocols)
            if (is(protocol, SEQUENCER.class) || is(protocol, SEQUENCER2.class))
                return true;
        return false;
    }

    /** Whether it is one that JGroups ships. */
    private boolean isOurs() {
        return wanted.getProperty("config").isEmpty();
    }

    private static boolean is(ProtocolConfiguration protocol, Class<?> what) throws Exception {
        return what.isAssignableFrom(protocol.loadProtocolClass(Stack.class));
    }

    private void change(ProtocolConfiguration protocol) throws Exception {
        Map<String, String> set = protocol.getProperties();
        for (Class<?> refused : REFUSED)
            if (is(protocol, refused))
                throw new IOException("the stack has " + protocol.getProtocolName()
                    + ", which may reach other hosts: members of a measured group are all on this one (take it out, or measure over UDP or TCP)");
        bindHere(protocol.loadProtocolClass(Stack.class), set);
        if (is(protocol, TP.class))
            keepHere(set);
        if (is(protocol, UDP.class))
            keepMulticastHere(set);
        if (is(protocol, BasicTCP.class) && !wanted.getProperty("nodelay").isEmpty())
            set.put("tcp_nodelay", wanted.getProperty("nodelay"));
        if (is(protocol, GMS.class)) {
            // It prints to standard output.
            set.put("print_local_addr", "false");
            // Who hears nothing of rank 0 for so long would be a group of its own.
            set.put("join_timeout", wanted.getProperty("patience"));
            set.put("max_join_attempts", "0");
        }
        // A busy machine is silent for long. Whoever measures finds a member that is, or that is gone, and says so.
        if (is(protocol, FailureDetection.class))
            set.put("timeout", String.valueOf(Math.max(40_000, 2 * number("patience"))));
        if (is(protocol, VERIFY_SUSPECT2.class) || is(protocol, VERIFY_SUSPECT.class))
            set.put("timeout", String.valueOf(2 * number("patience")));
        if (is(protocol, FD_SOCK2.class))
            set.put("offset", String.valueOf(PORTS));
        if (is(protocol, FlowControl.class) && number("credits") > 0)
            set.put("max_credits", wanted.getProperty("credits"));
        String name = protocol.loadProtocolClass(Stack.class).getSimpleName();
        if ((name.startsWith("NAKACK") || name.startsWith("UNICAST")) && number("retransmit") > 0)
            set.put("xmit_interval", wanted.getProperty("retransmit"));
    }

    /**
     * Every address that a protocol binds to is this host's own, and so is the one that it tells others. What is not set would be taken from the system's
     * properties, or be all interfaces: FD_SOCK2 does not ask its transport.
     */
    private static void bindHere(Class<?> protocol, Map<String, String> set) {
        set.remove("bind_interface");
        for (Class<?> of = protocol; of != null; of = of.getSuperclass())
            for (Field field : of.getDeclaredFields()) {
                Property property = field.getAnnotation(Property.class);
                if (property == null)
                    continue;
                String name = property.name().isEmpty() ? field.getName() : property.name();
                boolean address = field.getType() == InetAddress.class;
                if (field.isAnnotationPresent(LocalAddress.class) || address && name.equals("bind_addr"))
                    set.put(name, HERE);
                if (address && name.equals("external_addr"))
                    set.put(name, HERE);
                if (name.equals("external_port"))
                    set.put(name, "0");
            }
    }

    /** Keeps a transport to a port that is free. */
    private void keepHere(Map<String, String> set) {
        set.put("bind_port", String.valueOf(port(number("rank"))));
        set.put("port_range", String.valueOf(TRIED));
        // What answers questions about a member listens on all interfaces.
        set.keySet().removeIf(key -> key.startsWith("diag."));
        set.put("diag.enabled", "false");
        if (!wanted.getProperty("bundler").isEmpty())
            set.put("bundler_type", wanted.getProperty("bundler"));
    }

    /** The port that a member tries first. */
    private long port(long rank) {
        return FIRST_PORT + (drawn(32) + rank * TRIED) % (PORTS - TRIED);
    }

    /** An address and port that other groups hardly have, whose packets do not leave the host. */
    private void keepMulticastHere(Map<String, String> set) {
        set.remove("receive_on_all_interfaces");
        set.remove("receive_interfaces");
        set.put("ip_ttl", "0");
        set.put("mcast_addr", "239.255." + drawn(8) % 256 + "." + drawn(0) % 256);
        set.put("mcast_port", String.valueOf(FIRST_PORT + 2 * PORTS + drawn(16) % PORTS));
    }

    /** What was drawn for the group, from this bit on. */
    private long drawn(int bit) {
        return Long.parseUnsignedLong(wanted.getProperty("group")) >>> bit & 0xFFFF_FFFFL;
    }

    /**
     * Whatever finds members goes. They ask rank 0 where it is, and the others where they most likely are: a member whose address another one does not know as it sees it
     * in a view counts as failed there.
     */
    private void gather() throws Exception {
        for (int i = protocols.size() - 1; i > 0; i--)
            if (is(protocols.get(i), Discovery.class))
                protocols.remove(i);
        Map<String, String> set = new HashMap<>();
        set.put("port_range", "0");
        set.put("num_discovery_runs", String.valueOf(1 + number("patience") / ASKS));
        set.put("initial_hosts", number("rank") == 0 ? "" : others());
        protocols.add(1, new ProtocolConfiguration(Gathering.class.getName(), set));
    }

    private String others() {
        StringBuilder all = new StringBuilder(HERE + "[" + number("port") + "]");
        for (long rank = 1; rank < number("members"); rank++)
            if (rank != number("rank"))
                all.append(",").append(HERE).append("[").append(port(rank)).append("]");
        return all.toString();
    }

    /** Orders casts where nothing does, where JGroups' own stack for that does: below fragmentation. */
    private void order() throws Exception {
        if (isTotal())
            return;
        int at = protocols.size();
        for (int i = 1; i < protocols.size(); i++)
            if (protocols.get(i).getProtocolName().startsWith("FRAG"))
                at = i;
        protocols.add(at, new ProtocolConfiguration("SEQUENCER", new HashMap<>()));
    }

    private long number(String key) {
        return Long.parseLong(wanted.getProperty(key));
    }
}
